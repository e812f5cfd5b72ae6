import { CliError } from "../command.ts"
import { type ApiAddress, type Exchanged, exchange, jsonOf } from "../exchange.ts"
import type { Io } from "../io.ts"
import { controlAddress } from "../remote.ts"

/** What the engine's API refused, with its own code and sentence. */
export class ApiRefusal extends CliError {
  readonly status: number
  readonly apiCode: string

  constructor(status: number, apiCode: string, message: string) {
    super(`${message} (${apiCode})`)
    this.status = status
    this.apiCode = apiCode
  }
}

/** Where the engine is asked. */
export interface EngineAddress {
  /** The engine's own address; undefined: through the control API, as other commands go. */
  readonly url: string | undefined
  /** For the engine's own address. */
  readonly token: string | undefined
}

/** The engine's HTTP API. */
export interface EngineApi {
  readonly url: string
  /** JSON of a 2xx answer, or its text when it is none. @throws ApiRefusal, or CliError when there is no answer. */
  request(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown>
}

/** The API at `--url`, else behind the control listener, which carries `/authz/*` to it. */
export async function engineApi(io: Io, { url, token }: EngineAddress): Promise<EngineApi> {
  if (url !== undefined) {
    const own = token ?? io.env["SALLYPORT_AUTHZ_TOKEN"] ?? ""
    return apiAt({ url, base: url, token: own, what: "engine", remedy: "--url" })
  }
  const control = await controlAddress(io)
  return apiAt({ ...control, base: `${control.url}/authz`, what: "engine", remedy: "--url" })
}

function apiAt(address: ApiAddress): EngineApi {
  return {
    url: address.url,
    async request(method, path, body) {
      const answer = await exchange(address, method, path, body)
      if (answer.status < 200 || answer.status > 299) throw refusalOf(answer)
      return answer.contentType.startsWith("text/") ? answer.text : (jsonOf(answer, address) ?? {})
    },
  }
}

/** The engine's `{code, message}`, or the control API's problem. */
function refusalOf({ status, text }: Exchanged): ApiRefusal {
  try {
    const { code, message, title, detail } = JSON.parse(text) as Record<string, string | undefined>
    if (code !== undefined) return new ApiRefusal(status, code, message ?? "no reason given")
    return new ApiRefusal(status, String(status), detail ?? title ?? "no reason given")
  } catch {
    return new ApiRefusal(status, String(status), "the answer is no JSON")
  }
}
