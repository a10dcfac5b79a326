/** The loop between the core, which says what a fold does next, and the side that does it. */
import { native } from '../native.js';

/**
 * Runs one fold in the core.
 *
 * @param options - budgets and texts, as the core takes them.
 * @param perform - does one effect and resolves to what came of it. It is expected to answer `refused` or `stopped`
 * where something went wrong, and to keep the reason.
 * @returns the outcome.
 * @throws what `perform` throws, and where it answers what is no input; the fold is over then.
 */
export async function drive(options, perform) {
  let broken;
  const outcome = await native.runFold(options, async (effect) => {
    try {
      native.answerFold(effect.fold, await perform(effect));
    } catch (error) {
      broken = { error };
      native.answerFold(effect.fold, { kind: 'stopped' });
    }
  });
  if (broken) throw broken.error;
  return outcome;
}
