import { ClientAddresses } from "../gateway/exchange/client-address.ts"
import type { AddressLimits } from "../http/server/address-connections.ts"
import { connectionsPerAddressDefault } from "../plan/resources.ts"

/** Internal listeners trust no proxy to name other addresses, so all of their callers are limited. `openMax` null: there is no limit. */
export function internalAddressLimits(
  openMax: number | null | undefined = connectionsPerAddressDefault,
): AddressLimits {
  const addresses = new ClientAddresses([])
  return {
    openMax: openMax ?? undefined,
    newMax: undefined,
    countedAs: (address) => addresses.countedAs(addresses.of(address, undefined).ip),
  }
}
