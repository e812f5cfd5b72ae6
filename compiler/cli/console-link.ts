import type { ConsoleLinkAnswer } from "../../runtime/control/api.ts"
import { expectOk, type Remote } from "./remote.ts"

/** An address that signs a browser in once. */
export interface SignInLink {
  readonly url: string
  readonly seconds: number
}

/** Makes a link to the console, with the credential of these requests. @throws CliError */
export async function consoleLinkOf(remote: Remote): Promise<SignInLink> {
  const answer = await remote.request("POST", "/v1/console-links", {})
  const { path, seconds } = expectOk<ConsoleLinkAnswer>(answer)
  return { url: remote.url + path, seconds }
}
