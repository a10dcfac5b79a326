/**
 * Where a fold waits for somebody else, or writes: one row a point, in the order in which a fold passes them.
 */

/**
 * Points by name: which seam of the rig, at which passing of it. `synchronous` points wait for nothing: what
 * can go wrong there goes wrong in a call or in a listener of it. `failing` makes earlier passings of the
 * same seam reject, which is what leads to this point at all. `changes` names the call whose result somebody
 * shortens when the surface changes at this point: one still to be folded, or the checkpoint call's own where
 * nothing is. `later` points are passed by the next fold of the same mark.
 */
export const POINTS = {
  'latest mark': { seam: 'latestMark', count: 1, changes: 'c2' },
  'capability probe': { seam: 'probe', count: 1, changes: 'c2' },
  'first chunk': { seam: 'chunk', count: 1, changes: 'c2' },
  'middle chunk': { seam: 'chunk', count: 3, changes: 'c2' },
  'last chunk': { seam: 'chunk', count: 5, changes: 'c2' },
  'before the commit': { seam: 'latestMark', count: 2, changes: 'c2' },
  'price of the report': { seam: 'append', count: 1, synchronous: true, changes: 'c2' },
  'report': { seam: 'append', count: 2, synchronous: true, changes: 'c2' },
  'price of the pointer': { seam: 'append', count: 3, synchronous: true, changes: 'c1' },
  'pointer': { seam: 'append', count: 4, synchronous: true, changes: 'c1' },
  'price of the sibling': { seam: 'append', count: 5, synchronous: true, changes: 's1' },
  'sibling': { seam: 'append', count: 6, synchronous: true, changes: 's1' },
  'completeFold': { seam: 'completeFold', count: 1, changes: 'cp' },
  'completeFold again': { seam: 'completeFold', count: 2, failing: 1, changes: 'cp' },
  'stamp of a fold that stands': { seam: 'completeFold', count: 3, failing: 2, later: true, changes: 'cp' },
};
