/**
 * The task of the demonstration: a nightly job fails, and the model looks for the reason. The workspace is
 * real, the tools that read it are the CLI's own; only the model's answers are scripted.
 */
import { act, call, say } from '../__test__/support/script.js';

const NEEDLE = 'ENOSPC: no space left on device, write /var/spool/report/part-0413.tmp';

/** Words that stand in the exploration alone: they must leave the context and stay in the log. */
export { NEEDLE };

export const TASK = 'The nightly report job fails since Tuesday. Find out why and tell me what to change.';

function logLines(count) {
  return Array.from({ length: count }, (_, at) => {
    const minute = String(at % 60).padStart(2, '0');
    if (at === count - 4) return `02:${minute}:07 error ${NEEDLE}`;
    const part = String(at).padStart(4, '0');
    return `02:${minute}:07 info  wrote part-${part}.tmp (8388608 bytes), ${count - at} to go`;
  }).join('\n');
}

/** The files of the workspace, by name. */
export const FILES = {
  'logs/nightly.log': `${logLines(220)}\n`,
  'logs/cleanup.log': `${'03:00:00 info  nothing to remove in /var/tmp/report\n'.repeat(40)}`,
  'etc/report.conf': [
    '# nightly report', 'spool = /var/spool/report', 'parts = 4096', 'part_bytes = 8388608',
    'keep_days = 14', '',
  ].join('\n'),
  'etc/cleanup.conf': ['# runs at 03:00', 'path = /var/tmp/report', 'older_than_days = 2', ''].join('\n'),
  'docs/runbook.md': `# Runbook\n\n${'Restart the job when the queue is empty.\n'.repeat(60)}`,
};

/** What the summarizing model says of the exploration. */
export const REPORT = [
  '## Findings',
  '- The job stops with ENOSPC while writing its parts (logs/nightly.log, near the end).',
  '- It spools to /var/spool/report (etc/report.conf), but the cleanup removes from /var/tmp/report '
    + '(etc/cleanup.conf, logs/cleanup.log says "nothing to remove"): old parts pile up.',
  '## Dead ends',
  '- docs/runbook.md only says to restart the job.',
  '## Open',
  '- Set path = /var/spool/report in etc/cleanup.conf.',
].join('\n');

export const ANSWER = 'The spool fills up because the cleanup looks in the wrong place. '
  + 'Set `path = /var/spool/report` in etc/cleanup.conf.';

const read = (id, path) => call(id, 'read', { file_path: path });

/** The model's answers, by kind of request. */
export const STEPS = {
  main: [
    act(call('call_mark', 'checkpoint', { objective: 'why the nightly report job fails' }), {
      text: 'I will look around first.',
    }),
    act([read('call_log', 'logs/nightly.log'), read('call_conf', 'etc/report.conf')], {
      reasoning: 'The log of the job and its settings tell most.',
    }),
    act(call('call_grep', 'grep', { pattern: 'error', path: 'logs' })),
    act([read('call_cleanup', 'etc/cleanup.conf'), read('call_cleanup_log', 'logs/cleanup.log')], {
      text: 'The spool is full. What should have emptied it?',
    }),
    act(read('call_runbook', 'docs/runbook.md')),
    act(call('call_rewind', 'rewind')),
    say(ANSWER),
  ],
  report: [say(REPORT)],
};
