import { AuthzApi } from "../../../runtime/authz/api.ts"
import { startAuthz } from "../../../runtime/authz/server.ts"
import { Engine } from "../../../runtime/check/engine.ts"
import { migrate } from "../../../runtime/store/migrate.ts"
import { openPostgres } from "../../../runtime/store/postgres.ts"
import { createTupleSource } from "../../../runtime/store/tuple-source.ts"
import { createDatabase } from "../../postgres.ts"
import { startOpenfga } from "../../support/openfga.ts"

/** What a server said. */
export interface Said {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says.
  readonly json: any
}

/** What a server sent. */
export interface Sent {
  readonly status: number
  readonly ok: boolean
  readonly headers: Headers
  readonly text: string
}

/** How long OpenFGA may take; some questions it follows for minutes, whatever its own deadlines are. */
const patienceMs = 20_000

/** The code of a call that OpenFGA did not answer in time. It answers no others any more either: the next `store` starts it anew. */
export const noAnswer = "no_answer"

/** The same call to OpenFGA and to us; `{store}`, `{model}` and `{token}` (of the last page) in paths and bodies are each server's own. */
export interface Both {
  /** A body as it is. */
  send(method: string, path: string, body?: string): Promise<{ theirs: Sent; ours: Sent }>
  call(method: string, path: string, body?: unknown): Promise<{ theirs: Said; ours: Said }>
  /** A new store on both. */
  store(): Promise<void>
  /** A model of that store on both, which is `{model}` from now on; undefined when both refuse it. */
  model(model: unknown): Promise<{ theirs: Said; ours: Said }>
  close(): Promise<void>
}

interface Side {
  url: string
  store: string
  model: string
  token: string
}

/** Starts OpenFGA in memory, and our API on a fresh database. */
export async function startBoth(binary: string): Promise<Both> {
  const start = () => startOpenfga(binary, ["--experimentals=authzen"])
  let peer = await start()
  let silent = false
  const created = await createDatabase()
  const database = openPostgres(created.url)
  await migrate(database)
  const engine = new Engine(createTupleSource(database))
  const listeners = await startAuthz({
    api: new AuthzApi({ database, engine }),
    listen: [{ host: "127.0.0.1", port: 0 }],
  })
  const sides: readonly [Side, Side] = [
    { url: peer.url, store: "", model: "", token: "" },
    { url: `http://127.0.0.1:${listeners.addresses[0]?.port}`, store: "", model: "", token: "" },
  ]
  const send: Both["send"] = async (method, path, body) => {
    const [theirs, ours] = await Promise.all([
      sendTo(sides[0], method, path, body, AbortSignal.timeout(patienceMs)).catch((error) => {
        silent = true
        return unanswered(error)
      }),
      sendTo(sides[1], method, path, body),
    ])
    return { theirs, ours }
  }
  const both = async (method: string, path: string, body?: unknown) => {
    const { theirs, ours } = await send(method, path, body === undefined ? undefined : JSON.stringify(body))
    return { theirs: saidOf(theirs), ours: saidOf(ours) }
  }
  return {
    send,
    call: both,
    async store() {
      if (silent) {
        await peer.stop()
        peer = await start()
        sides[0].url = peer.url
        silent = false
      }
      const said = await both("POST", "/stores", { name: "peer" })
      sides[0].store = said.theirs.json.id
      sides[1].store = said.ours.json.id
    },
    async model(model) {
      const said = await both("POST", "/stores/{store}/authorization-models", model)
      if (said.theirs.status === 201) sides[0].model = said.theirs.json.authorization_model_id
      if (said.ours.status === 201) sides[1].model = said.ours.json.authorization_model_id
      return said
    },
    async close() {
      await listeners.close()
      engine.close()
      await database.close()
      await created.drop()
      await peer.stop()
    },
  }
}

function unanswered(error: unknown): Sent {
  if (!(error instanceof Error && error.name === "TimeoutError")) throw error
  return { status: 0, ok: false, headers: new Headers(), text: JSON.stringify({ code: noAnswer }) }
}

async function sendTo(
  side: Side,
  method: string,
  path: string,
  body: string | undefined,
  signal: AbortSignal | null = null,
): Promise<Sent> {
  const { url, store, model, token } = side
  const own = (text: string) =>
    text.replaceAll("{store}", store).replaceAll("{model}", model).replaceAll("{token}", token)
  const answer = await fetch(url + own(path), {
    method,
    signal,
    ...(body === undefined ? {} : { body: own(body), headers: { "content-type": "application/json" } }),
  })
  const text = await answer.text()
  side.token = /"continuation_token": ?"([^"]*)"/.exec(text)?.[1] ?? ""
  // The servers' own ids are told apart by nobody.
  const shown = text.replaceAll(store || "{store}", "{store}").replaceAll(model || "{model}", "{model}")
  return { status: answer.status, ok: answer.ok, headers: answer.headers, text: shown }
}

function saidOf({ status, text }: Sent): Said {
  return { status, json: text === "" ? undefined : JSON.parse(text) }
}
