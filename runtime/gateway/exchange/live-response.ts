import type { PendingResponse } from "../../policies/exchange.ts"
import type { Problem } from "../../policies/messages/answer.ts"
import type { HeaderList } from "../../policies/messages/header-list.ts"
import type { AnswerStream } from "./answer-stream.ts"
import { LiveBody } from "./live-body.ts"

interface Head {
  readonly status: number
  readonly reason?: string | undefined
  readonly headers: HeaderList
}

/** The response before it is sent: a backend's, whose body may still be streaming, or one made by the gateway. */
export class LiveResponse implements PendingResponse {
  status: number
  reason: string | undefined
  readonly headers: HeaderList
  readonly body: LiveBody
  readonly #stream: AnswerStream | undefined

  private constructor(head: Head, body: LiveBody, stream: AnswerStream | undefined) {
    this.status = head.status
    this.reason = head.reason
    this.headers = head.headers
    this.body = body
    this.#stream = stream
  }

  /** A backend's response. `bytesMax` limits the body when it is read whole. */
  static streamed(
    head: Head,
    {
      body,
      present,
      bytesMax,
      valuesMax,
    }: {
      readonly body: AnswerStream
      readonly present: boolean
      readonly bytesMax: number
      readonly valuesMax?: number | undefined
    },
  ): LiveResponse {
    const read = () => body.collect(bytesMax)
    const { headers } = head
    const content = new LiveBody({ sender: "response", headers, present, bytesMax, valuesMax, read })
    return new LiveResponse(head, content, body)
  }

  /** A complete response. */
  static whole(given: Head & { readonly body: Buffer | undefined }, valuesMax?: number): LiveResponse {
    const { headers } = given
    const read = () => Promise.resolve(Buffer.alloc(0))
    const content = new LiveBody({
      sender: "response",
      headers,
      present: false,
      bytesMax: 0,
      valuesMax,
      read,
    })
    content.replaceAs(given.body ?? Buffer.alloc(0))
    return new LiveResponse(given, content, undefined)
  }

  /** The stream to be sent unchanged; undefined when there is other content or the stream was read. */
  get stream(): AnswerStream | undefined {
    return this.body.outgoing === undefined ? this.#stream : undefined
  }

  /** It broke off. */
  stop(found: Problem): void {
    this.#stream?.fail(found)
  }

  /** The response is not needed. */
  drop(): void {
    this.#stream?.discard()
  }
}
