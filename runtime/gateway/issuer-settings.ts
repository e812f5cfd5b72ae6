import { resolve } from "node:path"
import type { IssuerSettings } from "../identity/issuer.ts"
import type { Issuer } from "../plan/resources.ts"
import type { References } from "./references.ts"

/** An issuer of a plan with its texts resolved; files are relative to `folder`. */
export function issuerSettingsOf(
  name: string,
  { source, audiences, clockSkewSeconds, algorithms }: Issuer,
  references: Pick<References, "text">,
  folder: string,
): IssuerSettings {
  const { text } = references
  return {
    name,
    source:
      "discovery" in source
        ? { discovery: text(source.discovery) }
        : { keysFile: resolve(folder, source.keys.file), issuer: text(source.issuer) },
    audiences: audiences === null ? null : audiences.map(text),
    clockSkewSeconds,
    algorithms,
  }
}
