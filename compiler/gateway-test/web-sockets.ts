import type { InProcessGateway } from "../../runtime/gateway/in-process/in-process-gateway.ts"
import type { Passage } from "../../runtime/gateway/in-process/passage.ts"
import type { FieldLine } from "../../runtime/gateway/in-process/world.ts"
import type { Expectation, Mismatch, Observed, WebSocketAct } from "./gateway-suite.ts"
import type { TreeReader } from "./tree-reader.ts"
import type { Tree } from "./value-tree.ts"

const expectedKeys = ["open", "sent", "received", "reason"]
const sides = ["client", "backend"] as const

/** Fields with which a client asks for a WebSocket (RFC 6455 §4.1), where the test does not say them itself. The key is that of the RFC. */
const upgradeFields: readonly FieldLine[] = [
  ["connection", "Upgrade"],
  ["upgrade", "websocket"],
  ["sec-websocket-version", "13"],
  ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
]

/** The header of a request that asks for a WebSocket. */
export function withUpgrade(headers: readonly FieldLine[]): FieldLine[] {
  const given = new Set(headers.map(([name]) => name.toLowerCase()))
  return [...headers, ...upgradeFields.filter(([name]) => !given.has(name))]
}

/** `client` or `backend`: who closes a WebSocket. */
export function readSide(tree: Tree, reader: TreeReader): "client" | "backend" | undefined {
  const word = reader.text(tree, "`close`")
  const side = sides.find((each) => each === word)
  return word === undefined || side !== undefined
    ? side
    : reader.unknown(tree.span, "side of a WebSocket", word, sides)
}

/** What must be true of a WebSocket: `open`, `closed`, or a map. */
export function readWebSocket(tree: Tree, reader: TreeReader): (Expectation | undefined)[] {
  if (tree.is === "scalar") {
    const word = reader.text(tree, "`websocket`")
    if (word === undefined) return []
    if (word !== "open" && word !== "closed")
      return [reader.unknown(tree.span, "state of a WebSocket", word, ["open", "closed"])]
    return [stateExpectation(tree, word === "open")]
  }
  const fields = reader.fields(tree, "`websocket`", expectedKeys)
  const open = fields?.get("open")
  const isOpen = reader.flag(open, "`open`")
  const reason = fields?.get("reason")
  const found: (Expectation | undefined)[] = []
  if (open !== undefined && isOpen !== undefined) found.push(stateExpectation(open, isOpen))
  for (const name of ["sent", "received"] as const) {
    const part = fields?.get(name)
    if (part !== undefined) found.push(textExpectation(part, name, reader))
  }
  if (reason !== undefined) found.push(reasonExpectation(reason, reader))
  return found
}

function stateExpectation({ span }: Tree, isOpen: boolean): Expectation {
  return {
    ...{ what: "websocket", span },
    differs: ({ webSocket }) =>
      webSocket?.isOpen === isOpen ? undefined : { expected: stateText(isOpen), got: foundText(webSocket) },
  }
}

/** `null`: nothing passed. */
function textExpectation(tree: Tree, name: "sent" | "received", reader: TreeReader): Expectation | undefined {
  const isNothing = tree.is === "scalar" && tree.value === null
  const wanted = isNothing ? "" : reader.text(tree, `\`${name}\``)
  if (wanted === undefined) return undefined
  return {
    ...{ what: `websocket: ${name}`, span: tree.span },
    differs: ({ webSocket }): Mismatch | undefined => {
      const got = webSocket?.[name]
      if (got === wanted) return undefined
      const text = got === undefined ? foundText(webSocket) : got || "nothing"
      return { expected: wanted || "nothing", got: text }
    },
  }
}

/** A part of why the gateway closed it, as in the log; `null`: one of the sides has closed it. */
function reasonExpectation(tree: Tree, reader: TreeReader): Expectation | undefined {
  const isNone = tree.is === "scalar" && tree.value === null
  const wanted = isNone ? undefined : reader.text(tree, "`reason`")
  if (wanted === undefined && !isNone) return undefined
  return {
    ...{ what: "websocket: reason", span: tree.span },
    differs: ({ webSocket }): Mismatch | undefined => {
      const cause = webSocket?.isOpen === false ? webSocket.cause : undefined
      const isIt =
        webSocket?.isOpen === false &&
        (wanted === undefined ? cause === undefined : cause?.includes(wanted) === true)
      if (isIt) return undefined
      return { expected: wanted ?? "closed by a side", got: foundText(webSocket) }
    },
  }
}

function stateText(isOpen: boolean): string {
  return isOpen ? "open" : "closed"
}

/** The state of a WebSocket in results. */
export function foundText(webSocket: Observed["webSocket"]): string {
  if (webSocket === undefined) return "the request opened no WebSocket"
  return webSocket.cause === undefined ? stateText(webSocket.isOpen) : `closed: ${webSocket.cause}`
}

/** The WebSockets that a test has opened, by name. */
export class OpenedWebSockets {
  readonly #opened = new Map<string, Passage>()

  /** A request that asked for a WebSocket has ended, or opened it. */
  note(name: string, passage: Passage): void {
    this.#opened.set(name, passage)
  }

  /** Does what a step says. Returns the passage of the request that opened the WebSocket. @throws Error when it did not open */
  async act({ name, send, respond, close }: WebSocketAct, gateway: InProcessGateway): Promise<Passage> {
    const passage = this.#opened.get(name)
    const webSocket = passage?.webSocket
    if (passage === undefined || webSocket === undefined)
      throw new Error(`the WebSocket \`${name}\` did not open, so nothing can pass`)
    for (const text of send) webSocket.send("client", text)
    for (const text of respond) webSocket.send("backend", text)
    if (close !== undefined) webSocket.close(close)
    await gateway.settled()
    return passage
  }
}
