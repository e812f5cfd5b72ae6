import { LRUCache } from "lru-cache"
import type { AskResponder } from "../http/server/ocsp-staples.ts"
import type { ParentCalls } from "./calls.ts"

/** Workers begin at the same time, and ask again at the same time; a second attempt comes later than this. */
const sharedMs = 50_000
const responsesMax = 1_000

/** Asks OCSP responders for all workers, so that each certificate costs one request. */
export class ResponderDesk {
  readonly #responses = new LRUCache<string, Promise<string>>({ max: responsesMax, ttl: sharedMs })
  readonly #ask: AskResponder

  constructor(ask: AskResponder) {
    this.#ask = ask
  }

  readonly calls: Pick<ParentCalls, "askResponder"> = {
    askResponder: (url, request) => {
      const key = `${url} ${request}`
      let response = this.#responses.get(key)
      if (response === undefined) {
        response = this.#ask(url, Buffer.from(request, "base64")).then((der) => der.toString("base64"))
        this.#responses.set(key, response)
      }
      return response
    },
  }
}
