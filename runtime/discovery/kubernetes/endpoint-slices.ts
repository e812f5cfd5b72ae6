import * as z from "zod"
import type { FoundTarget } from "../discovery.ts"

const condition = z.boolean().nullish()

/** The fields of an EndpointSlice (discovery.k8s.io/v1) that matter here. Others may be added by later versions. */
export const endpointSlice = z.looseObject({
  metadata: z.looseObject({ name: z.string(), resourceVersion: z.string().optional() }),
  addressType: z.string(),
  endpoints: z
    .array(
      z.looseObject({
        addresses: z.array(z.string()).min(1),
        conditions: z.looseObject({ ready: condition, serving: condition, terminating: condition }).nullish(),
      }),
    )
    .nullish(),
  ports: z.array(z.looseObject({ name: z.string().nullish(), port: z.number().int().nullish() })).nullish(),
})
/** Some endpoints of a service. */
export type EndpointSlice = z.infer<typeof endpointSlice>

/** `none`: the slices have endpoints, but not this port. */
export class UnknownPort extends Error {
  override readonly name = "UnknownPort"
}

/**
 * The targets of a service in all its slices: endpoints that are ready, otherwise those that still serve while they terminate, as kube-proxy does
 * (KEP-1672). `port`: the name of a port of the service, or the number of a port of its pods. In a cluster with both families IPv4 is used, because a
 * pod would be two targets.
 * @throws UnknownPort
 */
export function targetsOf(slices: Iterable<EndpointSlice>, port: string | number | undefined): FoundTarget[] {
  const all = [...slices]
  const four = all.filter(({ addressType }) => addressType === "IPv4")
  const used = four.some(({ endpoints }) => (endpoints ?? []).length > 0)
    ? four
    : all.filter(({ addressType }) => addressType === "IPv6")
  const ready = new Map<string, FoundTarget>()
  const ending = new Map<string, FoundTarget>()
  const unknown = new Set<string>()
  let isKnown = false
  for (const slice of used) {
    const endpoints = slice.endpoints ?? []
    const number = portOf(slice, port)
    if (number === undefined) {
      for (const each of slice.ports ?? []) unknown.add(`${each.name || "unnamed"} (${each.port})`)
      continue
    }
    isKnown ||= endpoints.length > 0
    for (const { addresses, conditions } of endpoints) {
      // All addresses of an endpoint lead to the same pod.
      const [host = ""] = addresses
      const target = { host, port: number, weight: 1, priority: 0 }
      if (conditions?.ready !== false) ready.set(`${host} ${number}`, target)
      else if (conditions.serving === true && conditions.terminating === true)
        ending.set(`${host} ${number}`, target)
    }
  }
  if (!isKnown && unknown.size > 0)
    throw new UnknownPort(`it has no port ${port ?? "of its own"}; its ports are ${[...unknown].join(", ")}`)
  return [...(ready.size > 0 ? ready : ending).values()]
}

/** The number of a port in a slice: ports of pods can differ between slices although they have one name. */
function portOf({ ports }: EndpointSlice, wanted: string | number | undefined): number | undefined {
  const all = ports ?? []
  const found =
    wanted === undefined
      ? all.length === 1
        ? all[0]
        : undefined
      : all.find(({ name, port }) => (typeof wanted === "number" ? port === wanted : name === wanted))
  return found?.port ?? undefined
}
