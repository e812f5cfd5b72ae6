import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { get } from "./client.ts"

/** Something that a page reads: the newest answer, why the last attempt failed, and how to try again. */
export interface Loaded<Answer> {
  readonly answer: Signal<Answer | undefined>
  readonly error: Signal<unknown>
  reload(): void
}

/** Reads a resource, and again when its path changes. An answer to an older path is dropped. Undefined path: nothing is read. */
export function useLoaded<Answer>(path: string | undefined): Loaded<Answer> {
  return useAsked(path, () => get<Answer>(path ?? ""))
}

/** Asks a question, and again when its key changes. An answer to an older question is dropped. Undefined key: nothing is asked. */
export function useAsked<Answer>(key: string | undefined, ask: () => Promise<Answer>): Loaded<Answer> {
  const answer = useSignal<Answer | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const turn = useSignal(0)
  const reload = () => {
    if (key === undefined) return
    const mine = turn.peek() + 1
    turn.value = mine
    error.value = undefined
    ask().then(
      (content) => {
        if (turn.peek() === mine) answer.value = content
      },
      (reason: unknown) => {
        if (turn.peek() === mine) error.value = reason
      },
    )
  }
  useEffect(reload, [key])
  return { answer, error, reload }
}
