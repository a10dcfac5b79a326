/** Waiting that ends when it is told to, whatever the awaited side does. */

/**
 * Waits for a promise, but no longer than the signal allows. A promise that settles later is ignored, its
 * rejection included.
 *
 * @param promise - what is awaited.
 * @param signal - ends the wait.
 * @returns the promise's value.
 * @throws the signal's exact reason, or what the promise rejects with.
 */
export async function untilAborted(promise, signal) {
  promise = Promise.resolve(promise);
  promise.catch(() => {});
  if (signal.aborted) throw signal.reason;
  let onAbort;
  const aborted = new Promise((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * One signal out of several, whose listeners go when the work is done; the first reason wins.
 *
 * @param signals - the signals to follow; absent ones are skipped.
 * @returns `{ signal, abort(reason), release() }`.
 */
export function follow(...signals) {
  const controller = new AbortController();
  const followed = signals.filter(Boolean).map((source) => [source, () => controller.abort(source.reason)]);
  for (const [source, relay] of followed) {
    if (source.aborted) relay();
    else source.addEventListener('abort', relay, { once: true });
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      for (const [source, relay] of followed) source.removeEventListener('abort', relay);
    },
  };
}

/**
 * A signal for code that is not trusted with the reason. Node's `fetch` defines a `stack` on what a pending
 * request is aborted with; the harness then cannot log the turn's end with that very object.
 *
 * @param source - the signal to follow.
 * @returns `{ signal, release() }`; the signal aborts with a reason of its own.
 */
export function shielded(source) {
  const controller = new AbortController();
  const relay = () => controller.abort();
  if (source.aborted) relay();
  else source.addEventListener('abort', relay, { once: true });
  return { signal: controller.signal, release: () => source.removeEventListener('abort', relay) };
}
