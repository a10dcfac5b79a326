/**
 * Own methods put in front of a service's, and taken away again. A service may be the host's or live in the
 * realm of an agent preset, and each look-up gives another proxy over one target; what tells a hooked target
 * is its own property (docs/prune.md 3.1).
 */
export class Hooks {
  /** @type {Map<Function, { target: object, name: string, previous: PropertyDescriptor | undefined }>} */
  #hooks = new Map();

  /**
   * Hooks a method once.
   *
   * @param target - the service.
   * @param name - the method's name.
   * @param make - makes the method that stands in front, given the one behind it.
   */
  hook(target, name, make) {
    const previous = Object.getOwnPropertyDescriptor(target, name);
    if (this.#hooks.has(previous?.value)) return;
    const hooked = make(previous?.value ?? Object.getPrototypeOf(target)[name]);
    Object.defineProperty(target, name, {
      value: hooked,
      configurable: true,
      enumerable: true,
      writable: true,
    });
    this.#hooks.set(hooked, { target, name, previous });
  }

  /** @returns whether a method of ours stands in front; not where somebody has hooked over it since. */
  holds(target, name) {
    return this.#hooks.has(Object.getOwnPropertyDescriptor(target, name)?.value);
  }

  /** Takes every hook away, except where somebody else has hooked over it since. */
  dispose() {
    for (const [hooked, { target, name, previous }] of this.#hooks) {
      if (Object.getOwnPropertyDescriptor(target, name)?.value !== hooked) continue;
      // Assigning the method back would leave an own property behind.
      if (previous === undefined) delete target[name];
      else Object.defineProperty(target, name, previous);
    }
    this.#hooks.clear();
  }
}
