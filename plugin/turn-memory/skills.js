/** Operational knowledge as runtime skills: loaded when needed, so nothing of it is part of every request. */

const RESTART = `# Restarting the DeepSeek Harness web app

Plugins, profiles and patch files are read when the app starts. After a change to a profile's
cordis.patch.yml, or after adding, updating or removing a plugin, the app must be restarted by the person who
runs it. Never restart it yourself: a restart ends every running turn, this one included.

1. Say what changed and that a restart is needed. Finish or park the current work first; pending messages and
   the session log survive.
2. The person stops the running \`dsh web\` process (Ctrl-C in its terminal, or their service manager) and starts
   it again with the same command and profile.
3. Afterwards open sessions are resumed from their logs. A turn that was running is marked as interrupted.
   With turn memory mounted, the last turn without a summary is summarized again by itself.

Before a restart \`dsh --profile web --dump-config\` shows the composed plugin tree without booting anything.
When the app does not come up: the first line on stderr names the row and the setting at fault. An unknown or
misspelled setting of these plugins is an error that names the key and the nearest known one.
Reinstalling the same version of a packed plugin keeps the old code: remove it first, then add it.
`;

const INSPECT = `# Inspecting a session log

A session is one append-only log. It lies below \`$DSH_HOME/sessions\` (default \`~/.dsh/sessions\`), one folder a
working directory, one a session. \`session.jsonl\` is plain text; \`session.jsonl.zstd\` is a sequence of zstd
frames, one after another:

- \`zstd -dc session.jsonl.zstd\` writes all frames as text;
- without the command: \`node -e "process.stdout.write(require('node:zlib').zstdDecompressSync(
  require('node:fs').readFileSync(process.argv[1])))" session.jsonl.zstd\` (Node 24 or newer; Node 22 writes the
  first frame alone).

The first line is the header (id, cwd, parentSession, origin). Every other line is an event: \`type\`, \`seq\` (its
place), \`time\`, \`data\`, and for messages \`surfaceOp\` and \`sourceEventSeqs\`. Runs of streamed chunks may be packed.

- turn/start, turn/end {reason}, step/start, step/end bound the work.
- user/message, assistant/message, tool/result are what a model can see; tool/call is the dispatch.
- compaction/start, compaction/end bracket a session compaction; compaction/prune prices a replacement.
- \`surfaceOp: "append"\` adds a message; \`{ op: "replace", start, end }\` puts it in the place of the nodes from
  \`start\` to \`end\`. The replaced events stay in the log. \`sourceEventSeqs\` names every node that was replaced.

To see what a model sees, walk the messages in order: append pushes, replace puts the new seq in the place of
the run between \`start\` and \`end\`. Who replaced what stands in \`data.source.plugin\`: \`turn-memory\` (a turn's
summary), \`rewind\` and \`rewind-pointer\` (a fold's report, and what points to it), \`rewind-prune\` (a receipt),
\`compact\` (a session compaction).

Check after any replacement: every tool call of a visible assistant message has exactly one visible result
before the next message, and no visible result lacks its call. Never edit a log; copy it and look at the copy.
`;

const TURN_MEMORY = `# Turn memory

After every ended turn of a top-level session a summary takes the place of the turn's process on the surface.
The message that started the turn, every later message of a person and everything said to them stay word for
word; the log keeps the rest. \`expand_turn\` tells a turn again from the log, \`compact_turn\` starts the summary of
an ended turn that still stands raw.

When it happens: once the agent is idle, when a session is resumed (its last turn without a summary), and on
\`compact_turn\`. A process that runs one task and exits starts nothing; the next resume does it.

Settings of the row, all optional:
- summaryEngine: \`replay\` (one request over the conversation's own prefix) or \`fork\` (rounds of a forked child
  with draft tools). roundTimeoutMs, maxRounds, maxAttemptsPerTurn bound it; maxWorkingChars and minShrinkRatio
  say how short a summary must be.
- recallRecentWindowMs: turns that ended within it are answered by a fork that still sees them, older ones by
  cheapProvider/cheapModel (cheapMaxTokens) over their record; recallTimeoutMs bounds both, maxRecallDepth the
  fork's depth. maxRawChars and toolResultCapChars bound the record, head and tail kept.
- keepRawCopy writes replaced turns to \`$DSH_HOME/turn-memory/raw\`; debug writes \`$DSH_HOME/turn-memory-debug.log\`;
  prefixDumpDir collects every landed summary with its neighbours.

When a turn stays raw, the trace has one line an attempt: \`turn=N attempt=K outcome=CODE\`.
NO_SHRINK: too little process to be worth it. NON_CONTIGUOUS, UNBALANCED_*: something else stands inside the
turn. CHANGED: the surface moved meanwhile. TIMEOUT, MODEL_ERROR, MAX_TOKENS, WORKING_UNTOUCHED: the summary was
not written; it is tried again while attempts are left. ATTEMPTS_EXHAUSTED: \`compact_turn\` with the turn's
number starts over. Without the fork provider recent turns are answered from their record; without the spawn
provider by a direct request.
`;

/** The skills, as `ctx.skills.register` takes them. */
export const SKILLS = [
  {
    name: 'dsh-web-restart',
    description: 'Restarting the dsh web app after a change of plugins or profiles: what to tell the person, what survives.',
    content: RESTART,
  },
  {
    name: 'dsh-session-log-inspect',
    description: 'Reading session logs: decompression, event vocabulary, what the model sees after replacements.',
    content: INSPECT,
  },
  {
    name: 'dsh-turn-memory',
    description: 'How turn memory summarizes turns: settings, recall, and why a turn stays raw.',
    content: TURN_MEMORY,
  },
].map((skill) => ({ ...skill, source: 'runtime' }));
