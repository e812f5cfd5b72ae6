import { CliError } from "../command.ts"
import { controlTlsOf } from "../control-tls.ts"
import { credentialFor } from "../credential.ts"
import { type ApiAddress, type Exchanged, exchange, jsonOf } from "../exchange.ts"
import type { Io } from "../io.ts"
import { controlUrl } from "../remote.ts"

/** An error response of the engine's API, with its code and message. */
export class ApiRefusal extends CliError {
  readonly status: number
  readonly apiCode: string

  constructor(status: number, apiCode: string, message: string) {
    super(`${message} (${apiCode})`)
    this.status = status
    this.apiCode = apiCode
  }
}

/** The address of the engine. */
export interface EngineAddress {
  /** The engine's own URL; undefined: use the control API, like other commands. */
  readonly url: string | undefined
  /** The token for the engine's own URL. */
  readonly token: string | undefined
}

/** The engine's HTTP API. */
export interface EngineApi {
  readonly url: string
  /** The JSON of a 2xx response, or its text if it is not JSON. @throws ApiRefusal for other statuses, or CliError without a response. */
  request(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown>
}

/** The API at `--url`, else through the control listener, which forwards `/authz/*` to it. */
export async function engineApi(io: Io, { url, token }: EngineAddress): Promise<EngineApi> {
  if (url !== undefined) {
    const own = token ?? io.env["SALLYPORT_AUTHZ_TOKEN"] ?? ""
    return apiAt({ url, base: url, token: own, what: "engine", remedy: "--url" })
  }
  const control = controlUrl(io)
  const [credential, tls] = await Promise.all([credentialFor(io, control), controlTlsOf(io)])
  const address = { url: control, base: `${control}/authz`, token: () => credential.token(), tls }
  return apiAt({ ...address, what: "engine", remedy: "--url" })
}

/** The engine at an address of its own, with a key or token. Every status but 2xx is a refusal. */
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

/** Reads the engine's `{code, message}`, or the control API's problem. */
function refusalOf({ status, text }: Exchanged): ApiRefusal {
  try {
    const { code, message, title, detail } = JSON.parse(text) as Record<string, string | undefined>
    if (code !== undefined) return new ApiRefusal(status, code, message ?? "no reason given")
    return new ApiRefusal(status, String(status), detail ?? title ?? "no reason given")
  } catch {
    return new ApiRefusal(status, String(status), "the response is not JSON")
  }
}
