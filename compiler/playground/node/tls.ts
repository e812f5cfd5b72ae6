import { absent, absentClass } from "./absent.ts"

// `node:tls`: there are no listeners.

export const TLSSocket = absentClass("tls.TLSSocket")
export const Server = absentClass("tls.Server")
export const connect = absent("tls.connect")
export const createSecureContext = absent("tls.createSecureContext")
export const rootCertificates: readonly string[] = []
