// `node:async_hooks`. A browser does not know which request a callback belongs to: one request runs at a time.

/** There is one context, so a callback needs none. */
export const AsyncResource = {
  bind: <T>(run: T): T => run,
}

/** Never has a value: several requests at one moment cannot be told apart. */
export class AsyncLocalStorage {
  getStore(): undefined {
    return undefined
  }

  run(): never {
    throw new Error(
      "requests at one moment (`together`) cannot be told apart in a browser; `sallyport test` runs this test",
    )
  }
}
