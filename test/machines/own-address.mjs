// Loaded into each process of a fleet: machines that run the same plan listen on the same ports, so on one machine each needs an address of its
// own. Where the plan says 127.0.0.1, this process listens on the loopback address that SALLYPORT_TEST_ADDRESS names.
import { Server } from "node:net"

const address = process.env.SALLYPORT_TEST_ADDRESS
const { listen } = Server.prototype

if (address !== undefined)
  Server.prototype.listen = function (options, ...more) {
    const isOurs = typeof options === "object" && options?.host === "127.0.0.1"
    return listen.call(this, isOurs ? { ...options, host: address } : options, ...more)
  }
