const handshakeRecord = 0x16
const clientHello = 1
const serverNameExtension = 0
/** A record has at most this much content (RFC 8446 §5.1). */
const recordBytesMax = 16_384
/** Real ones have less than 4 KB, also with keys against quantum computers. */
const helloBytesMax = 65_536

/**
 * The host that a client names in the first message of TLS (RFC 8446 §4.1.2, RFC 6066 §3), from the first bytes of a connection. `more`: the
 * message is not complete. Undefined: it names none, or is invalid, which OpenSSL reports.
 */
export function namedHost(bytes: Buffer): { readonly host: string | undefined } | "more" {
  const hello = handshakeOf(bytes)
  if (hello === "more") return hello
  try {
    return { host: hello === undefined ? undefined : hostIn(hello) }
  } catch (error) {
    // Lengths that lead outside of the message.
    if (error instanceof RangeError) return { host: undefined }
    throw error
  }
}

/** The body of the ClientHello, which several records may contain. */
function handshakeOf(bytes: Buffer): Buffer | "more" | undefined {
  const parts: Buffer[] = []
  let size = 0
  for (let at = 0; ; ) {
    if (size >= 4) {
      const message = Buffer.concat(parts)
      const length = message.readUIntBE(1, 3)
      if (message[0] !== clientHello || length > helloBytesMax) return undefined
      if (size >= length + 4) return message.subarray(4, length + 4)
    }
    if (at + 5 > bytes.length) return "more"
    const length = bytes.readUInt16BE(at + 3)
    if (bytes[at] !== handshakeRecord || length === 0 || length > recordBytesMax) return undefined
    if (at + 5 + length > bytes.length) return "more"
    parts.push(bytes.subarray(at + 5, at + 5 + length))
    size += length
    at += 5 + length
  }
}

/** @throws RangeError when a length leads outside of the message */
function hostIn(hello: Buffer): string | undefined {
  // Version and random bytes have 34 bytes; then session id, ciphers and compression with their lengths.
  let at = 34
  at += 1 + hello.readUInt8(at)
  at += 2 + hello.readUInt16BE(at)
  at += 1 + hello.readUInt8(at)
  if (at === hello.length) return undefined
  const end = at + 2 + hello.readUInt16BE(at)
  at += 2
  while (at < end) {
    const type = hello.readUInt16BE(at)
    const length = hello.readUInt16BE(at + 2)
    if (type === serverNameExtension) return nameIn(hello.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return undefined
}

/** The list has one name of type 0 (RFC 6066 §3). */
function nameIn(list: Buffer): string | undefined {
  if (list.length === 0 || list.readUInt8(2) !== 0) return undefined
  const length = list.readUInt16BE(3)
  return 5 + length > list.length ? undefined : list.toString("latin1", 5, 5 + length)
}
