import type { IncomingExchange } from "../../http/server/incoming.ts"
import { challengePrefix, type ManagedCertificates } from "../../http/server/managed-certificates.ts"

/** Tokens have at least 128 bits, in base64url (RFC 8555 §8.3). */
const tokenForm = /^[A-Za-z0-9_-]{20,128}$/

/**
 * Answers an HTTP-01 challenge of an order of this fleet, before any route and before a redirect to HTTPS (RFC 8555 §8.3). False: the request is another
 * one, for example for a backend that orders certificates itself.
 */
export async function answerChallenge(
  { request, reply }: IncomingExchange,
  target: string,
  managed: Pick<ManagedCertificates, "response">,
): Promise<boolean> {
  const token = target.slice(challengePrefix.length)
  if (request.method !== "GET" || !tokenForm.test(token)) return false
  const response = await managed.response(token)
  if (response === undefined) return false
  const length = String(Buffer.byteLength(response))
  reply.writeHead(200, ["content-type", "application/octet-stream", "content-length", length])
  reply.end(response)
  return true
}
