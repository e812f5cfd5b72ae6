import type { TokenArgs } from "../args/token.ts"
import { CliError, exitCode, type Work } from "../command.ts"

/** The development provider's only client; its users have their names as passwords. */
const client = { client_id: "mobile", client_secret: "mobile-secret" }

export const token: Work<TokenArgs> = async ({ sub, url }, io) => {
  const grant =
    sub === client.client_id
      ? { grant_type: "client_credentials" }
      : { grant_type: "password", username: sub, password: sub }
  let answer: { access_token?: string; error_description?: string }
  try {
    const response = await fetch(url, {
      method: "POST",
      body: new URLSearchParams({ ...client, ...grant }),
      signal: AbortSignal.timeout(5_000),
    })
    answer = (await response.json()) as typeof answer
  } catch {
    throw new CliError(
      `no development identity provider answers at ${url}`,
      "`npm start` starts one. For another provider, ask it by curl.",
    )
  }
  if (answer.access_token === undefined) {
    throw new CliError(
      `no token for \`${sub}\`: ${answer.error_description ?? "refused"}`,
      "Known are ann, bob, carol and mobile.",
    )
  }
  io.out(`${answer.access_token}\n`)
  return exitCode.ok
}
