import { many, type StatementRow, slot } from "./row.ts"
import { listen, listenTls, proxyProtocol } from "./top.ts"

export const controlRows: readonly StatementRow[] = [
  {
    ...listen,
    required: false,
    byDefault: "only the address of `SALLYPORT_CONTROL_LISTEN`",
    forms: [{ args: [many(slot("address", "address"), 16)], block: "control listen" }],
    docs: "Addresses of the control API, in addition to that of `SALLYPORT_CONTROL_LISTEN`. If it is the same address, that listener uses this block while the plan runs. Without a block, operators use plain HTTP.",
    example: "listen 127.0.0.1:8443",
  },
]

/** In the block of a `listen` of the control API. */
export const controlListenRows: readonly StatementRow[] = [listenTls, proxyProtocol]
