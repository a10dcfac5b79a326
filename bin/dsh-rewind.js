#!/usr/bin/env node
/** `dsh-rewind`: audits session logs. The core reads, decides and writes; this file only finds it. */
try {
  const { native } = await import('../plugin/native.js');
  if (!native.auditCommand) throw new Error('the native core is older than this command: build it anew with "npm run build"');
  process.exitCode = native.auditCommand(process.argv.slice(2));
} catch (error) {
  console.error(`dsh-rewind: ${error.message}`);
  process.exitCode = 2;
}
