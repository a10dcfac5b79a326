/**
 * What goes wrong at a point: one row a fault. Each has a form for a point where the fold waits for a
 * promise, and one for a point that is synchronous, where a listener of the event is who could do it.
 */
import { setImmediate as tick } from 'node:timers/promises';
import { FAULT } from './rig.js';

/** Something happens while the fold waits, and the wait then ends as if nothing had. */
const meanwhile = (happen) => ({
  waiting: async (rig, proceed) => {
    await tick();
    happen(rig);
    await tick();
    return proceed();
  },
  synchronous: (rig, proceed) => {
    happen(rig);
    return proceed();
  },
});

/** Faults by name: `waiting(rig, proceed)` takes the place of what is awaited, `synchronous` of the call. */
export const FAULTS = {
  'throws': {
    waiting: () => {
      throw FAULT;
    },
    synchronous: () => {
      throw FAULT;
    },
  },
  'rejects': {
    waiting: () => Promise.reject(FAULT),
    synchronous: (rig, proceed) => {
      rig.onNextEvent(() => Promise.reject(FAULT));
      return proceed();
    },
  },
  'never settles, then abort': {
    waiting: (rig) => {
      setImmediate(() => rig.cancel());
      return new Promise(() => {});
    },
    synchronous: (rig, proceed) => {
      rig.onNextEvent(() => {
        rig.cancel();
        return new Promise(() => {});
      });
      return proceed();
    },
  },
  'settles after abort': meanwhile((rig) => rig.cancel()),
  'rejects after abort': {
    waiting: async (rig) => {
      await tick();
      rig.cancel();
      await tick();
      throw FAULT;
    },
    synchronous: (rig) => {
      rig.cancel();
      throw FAULT;
    },
  },
  'agent disposed': meanwhile((rig) => rig.disposeAgent()),
  'plugin disposed': meanwhile((rig) => rig.disposePlugin()),
  'surface changed': meanwhile((rig) => rig.prune()),
  'mark changed': meanwhile((rig) => rig.ctx.checkpoint.take(rig.session)),
  'mark lost': meanwhile((rig) => rig.ctx.checkpoint.forget(rig.session.id)),
  'second fold started': meanwhile((rig) => rig.foldAgain()),
};
