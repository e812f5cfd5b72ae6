import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { AcmeCertificates, type AcmeCertificatesSettings } from "../../runtime/acme/acme-certificates.ts"
import { type AcmeSettings, challengePrefix } from "../../runtime/http/server/managed-certificates.ts"
import type { Database } from "../../runtime/store/database.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import type { Pebble } from "../support/pebble.ts"

/** A secret that protects keys. */
export const protection = "0123456789abcdef0123456789abcdef"

/** Settings of a certificate from a Pebble. */
export function settingsOf(
  pebble: Pick<Pebble, "directory" | "caFile">,
  more: Partial<AcmeSettings> = {},
): AcmeSettings {
  return {
    name: "edge",
    hosts: ["a.example"],
    directory: pebble.directory,
    contact: undefined,
    challenge: "http-01",
    externalAccount: undefined,
    protectedBy: protection,
    ca: readFileSync(pebble.caFile, "utf8"),
    ...more,
  }
}

/** A process of a fleet, without listeners. `log`: its lines; `changes`: how often it got a certificate. */
export interface Member {
  readonly acme: AcmeCertificates
  readonly log: Record<string, unknown>[]
  changes: number
  /** The certificate that it would show. */
  shown(settings: AcmeSettings): Promise<X509Certificate | undefined>
}

/** Starts a process that uses certificates. */
export function memberOf(
  database: Database,
  settings: readonly AcmeSettings[],
  more: Partial<AcmeCertificatesSettings> = {},
): Member {
  const log: Record<string, unknown>[] = []
  const stream = { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) }
  const acme = new AcmeCertificates({ database, log: createLog({ stream }), pollMs: 50, ...more })
  const member: Member = {
    acme,
    log,
    changes: 0,
    shown: async (each) => {
      const pair = await acme.obtain(each)
      return pair === undefined ? undefined : new X509Certificate(pair.cert)
    },
  }
  acme.use("test", settings, () => {
    member.changes += 1
  })
  return member
}

/** Serves HTTP-01 challenges from any member, in turns. Returns how to stop it. */
export async function answerChallenges(
  port: number,
  members: () => readonly Member[],
): Promise<() => Promise<void>> {
  let turn = 0
  const server = createServer((request, response) => {
    const all = members()
    const member = all[turn++ % all.length]
    const token = (request.url ?? "").slice(challengePrefix.length)
    void member?.acme.response(token).then((found) => {
      response.writeHead(found === undefined ? 404 : 200).end(found)
    })
  })
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  return async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}
