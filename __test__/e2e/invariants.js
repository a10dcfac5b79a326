/** The invariant companions in the real CLI: whatever breaks a session there fails at the append itself. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The registry's package, added to the profile beside ours. */
export const REGISTRY = dirname(fileURLToPath(import.meta.resolve('@deepseek-ai/dsh-invariants/package.json')));

/** The rows: the registry, the harness's own companions of session, compaction and meter, and ours. */
export const COMPANIONS = [
  { id: 'invariants', name: '@deepseek-ai/dsh-invariants' },
  ...['session', 'compaction', 'token-meter', 'agent-loop'].map((name) => ({
    id: `${name}-invariant`, name: `@deepseek-ai/dsh-${name}/invariant`,
  })),
  { id: 'tool-rewind-invariant', name: '@dpskh/tool-rewind/invariant' },
];
