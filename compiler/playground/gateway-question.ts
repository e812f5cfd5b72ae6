import { batch, type ReadonlySignal, signal, useSignalEffect } from "@preact/signals"
import { analysis } from "./project.ts"
import type { Analysis } from "./protocol.ts"

/** A question to the worker about the gateway of the open project, and its last answer. */
export class GatewayQuestion<Answer> {
  readonly #ask: () => Promise<Answer | undefined>
  readonly #answer = signal<{ readonly to: Analysis; readonly value: Answer | undefined } | undefined>(
    undefined,
  )
  readonly #fault = signal<string | undefined>(undefined)

  constructor(ask: () => Promise<Answer | undefined>) {
    this.#ask = ask
  }

  /** The last answer, while a new one is awaited too. Undefined: there is none yet, or the project has no gateway. */
  get answer(): Answer | undefined {
    return this.#answer.value?.value
  }

  /** The answer to the project as it is now; undefined: an older one, or none. */
  get newest(): Answer | undefined {
    const last = this.#answer.value
    return last?.to === analysis.value ? last?.value : undefined
  }

  /** Why the gateway could not be loaded. */
  get fault(): ReadonlySignal<string | undefined> {
    return this.#fault
  }

  /** Asks again for each new state of the project, as long as the component that calls it is shown. */
  useNewest(onAnswer?: (answer: Answer | undefined) => void): void {
    useSignalEffect(() => {
      const known = analysis.value
      if (known === undefined || this.#answer.peek()?.to === known) return
      void this.#ask()
        .then((value) => {
          if (analysis.peek() !== known) return
          batch(() => {
            this.#fault.value = undefined
            this.#answer.value = { to: known, value }
            onAnswer?.(value)
          })
        })
        .catch((error: unknown) => {
          this.#fault.value = (error as Error).message
        })
    })
  }

  /** Another project comes. */
  forget(): void {
    this.#answer.value = undefined
  }
}
