// `node:util`.

type Callback<T> = (error: Error | null, result?: T) => void

export function promisify<T>(work: (...values: never[]) => void): (...values: unknown[]) => Promise<T> {
  return (...values) =>
    new Promise((resolve, reject) => {
      const done: Callback<T> = (error, result) => (error === null ? resolve(result as T) : reject(error))
      ;(work as (...all: unknown[]) => void)(...values, done)
    })
}
