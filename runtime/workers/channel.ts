/** The functions that one end of a channel offers the other. Arguments and results are JSON. */
export type Calls<Names extends string = string> = Readonly<Record<Names, (...args: never[]) => unknown>>

/** One end of Node's channel between a process and its child: `process`, or the child. */
export interface ChannelPort {
  send(message: unknown, onSent: (error: Error | null) => void): void
  onMessage(receive: (message: unknown) => void): void
}

/** The other process has ended, or closed the channel. */
export class ChannelClosed extends Error {
  override readonly name = "ChannelClosed"

  constructor() {
    super("the other process has ended")
  }
}

/** Handles a failed call: calls `otherwise` if the other process has ended. */
export function unlessClosed<Result>(otherwise: () => Result): (error: unknown) => Result {
  return (error) => {
    if (error instanceof ChannelClosed) return otherwise()
    throw error
  }
}

/** A call: number, name, arguments; number 0: no reply is wanted. A reply: number, `null`, the result or why it failed. */
type Message =
  | readonly [call: number, name: string, args: readonly unknown[]]
  | readonly [call: number, name: null, result: unknown, failure?: string]

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

/**
 * Calls between a parent process and one worker, in order. The messages of one turn of the event loop are sent together, because a message costs
 * about 10 µs of CPU time and most calls are small.
 */
export class Channel<Theirs extends Calls, Own extends Calls> {
  readonly #port: ChannelPort
  readonly #waiting = new Map<number, Waiting>()
  #own: Own | undefined
  #outgoing: Message[] = []
  #calls = 0
  #isClosed = false

  constructor(port: ChannelPort) {
    this.#port = port
    port.onMessage((message) => {
      if (isBatch(message)) for (const each of message) this.#receive(each)
    })
  }

  /** The functions that the other end may call. Set them before it can know this end. */
  serve(own: Own): void {
    this.#own = own
  }

  /** Rejects with `ChannelClosed`, or with an Error that has the message of the other end. */
  ask<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Parameters<Theirs[Name]>
  ): Promise<Awaited<ReturnType<Theirs[Name]>>> {
    if (this.#isClosed) return Promise.reject(new ChannelClosed())
    const call = ++this.#calls
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve: resolve as Waiting["resolve"], reject })
      this.#send([call, name, args])
    })
  }

  /** Calls without a reply; the call is lost if the other end has ended. */
  tell<Name extends keyof Theirs & string>(name: Name, ...args: Parameters<Theirs[Name]>): void {
    if (!this.#isClosed) this.#send([0, name, args])
  }

  /** Rejects all calls without a reply. Call it when the other process has ended. */
  close(): void {
    this.#isClosed = true
    for (const { reject } of this.#waiting.values()) reject(new ChannelClosed())
    this.#waiting.clear()
  }

  #send(message: Message): void {
    if (this.#outgoing.length === 0) setImmediate(() => this.#flush())
    this.#outgoing.push(message)
  }

  #flush(): void {
    const batch = this.#outgoing
    this.#outgoing = []
    if (this.#isClosed) return
    // A failure means that the other process has ended, which is reported in another way.
    this.#port.send(batch, () => undefined)
  }

  #receive([call, name, content, failure]: Message): void {
    if (name !== null) {
      this.#answer(call, name, content as readonly never[])
      return
    }
    const waiting = this.#waiting.get(call)
    this.#waiting.delete(call)
    if (failure === undefined) waiting?.resolve(content)
    else waiting?.reject(new Error(failure))
  }

  #answer(call: number, name: string, args: readonly never[]): void {
    const work = this.#own?.[name]
    let result: unknown
    try {
      if (work === undefined) throw new Error(`the other process does not offer \`${name}\``)
      result = work(...args)
    } catch (error) {
      this.#failed(call, error)
      return
    }
    // Most calls are answered at once, and a promise would delay their reply by a turn.
    if (!(result instanceof Promise)) this.#reply(call, result)
    else
      result.then(
        (value) => this.#reply(call, value),
        (error: unknown) => this.#failed(call, error),
      )
  }

  #reply(call: number, result: unknown): void {
    if (call !== 0 && !this.#isClosed) this.#send([call, null, result ?? null])
  }

  #failed(call: number, error: unknown): void {
    if (call !== 0 && !this.#isClosed)
      this.#send([call, null, null, error instanceof Error ? error.message : String(error)])
  }
}

/** Node's own messages, and those of libraries, use the same channel. */
function isBatch(message: unknown): message is readonly Message[] {
  return Array.isArray(message)
}
