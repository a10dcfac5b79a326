/**
 * The fold's row in the web view. The view's generic tool row ignores a result's title and content, so a fold
 * would show nowhere in Chat: this row says in one line what was folded and opens to the report. It reads
 * `presentResult`'s card alone, so it shows the same after a reload, a restart, or in another browser.
 *
 * Loaded by the harness's module loader in the browser; everything it uses is the harness's own.
 */
window.__ModuleLoader__.load({
  id: '@dpskh/tool-rewind',
  factory: (use) => {
    const { jsx, jsxs, Fragment } = use('react/jsx-runtime');
    const { useState } = use('react');
    const { DisclosureRow, MarkdownText, StateDot } = use('@deepseek-ai/dsh-client-ui-primitives');

    const NAMESPACE = 'tool-rewind';
    const en = { title: 'Fold', running: 'Writing the report', failed: 'Not folded', stopped: 'Fold cancelled' };
    const zh = { title: '折叠', running: '正在撰写报告', failed: '未折叠', stopped: '折叠已取消' };

    const quiet = { color: 'var(--dsw-alias-label-tertiary)' };
    const styles = {
      separator: { ...quiet, margin: '0 8px', fontSize: 14, lineHeight: '24px' },
      summary: {
        ...quiet, flex: 'auto', minWidth: 0, overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap', fontSize: 14,
        lineHeight: '24px',
      },
      error: { color: 'var(--dsw-alias-state-error-primary)' },
      body: {
        border: '1px solid var(--dsw-alias-border-l1)', borderRadius: 12, margin: '4px 0 4px 4px', padding: '10px 14px',
        maxHeight: 420, overflow: 'auto', overflowWrap: 'anywhere', zoom: 0.85,
      },
      hidden: { position: 'absolute', width: 1, height: 1, overflow: 'hidden', clip: 'rect(0 0 0 0)' },
    };

    const textOf = (blocks) => (blocks ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('');

    /** What the row shows of a call: running, refused or cancelled, or folded. */
    function modelOf(block, t) {
      if (!('kind' in block)) return { state: 'running', summary: t('running'), body: '' };
      const said = textOf(block.content);
      if (block.error?.code === 'interrupted') return { state: 'stopped', summary: t('stopped'), body: said };
      if (block.isError) return { state: 'error', summary: said.replace(/^Error: /, '') || t('failed'), body: said };
      const card = block.resultView;
      return { state: 'ok', summary: card?.title ?? said, body: textOf(card?.content) || said };
    }

    function RewindRow({ block, t }) {
      const [open, setOpen] = useState(false);
      const { state, summary, body } = modelOf(block, t);
      const failed = state === 'error';
      return jsxs('div', {
        'data-tool': 'rewind',
        'data-state': state,
        children: [
          state === 'ok' ? null : jsx('span', { style: styles.hidden, children: t(failed ? 'failed' : state) }),
          jsx(DisclosureRow, {
            icon: jsx(StateDot, { state: { ok: 'success', error: 'error', stopped: 'warning', running: 'running' }[state] }),
            title: t('title'),
            open,
            expandable: body !== '',
            expandOnRowClick: true,
            keepContentWhenOpen: true,
            onToggle: () => setOpen((value) => !value),
            collapsedContent: jsxs(Fragment, {
              children: [
                jsx('span', { style: styles.separator, 'aria-hidden': true, children: '·' }),
                jsx('span', { style: failed ? { ...styles.summary, ...styles.error } : styles.summary, children: summary }),
              ],
            }),
            children: jsx('section', { style: styles.body, 'data-rewind-report': true, children: jsx(MarkdownText, { text: body }) }),
          }),
        ],
      });
    }

    return {
      inject: ['slots', 'locale'],
      apply(ctx) {
        ctx.effect(() => ctx.locale.register(NAMESPACE, { zh, en }), 'tool-rewind: dictionaries');
        ctx.slots.inject('tool.call.toolview', () => ctx.slots.register(
          { name: 'tool.call.toolview', key: 'rewind', locale: NAMESPACE },
          RewindRow,
        ));
      },
    };
  },
});
