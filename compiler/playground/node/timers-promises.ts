// `node:timers/promises`.

export const setTimeout = <T>(ms: number, value?: T): Promise<T | undefined> =>
  new Promise((resolve) => globalThis.setTimeout(() => resolve(value), ms))

export const setImmediate = (): Promise<void> =>
  new Promise((resolve) => globalThis.setImmediate(() => resolve()))
