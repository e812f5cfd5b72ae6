import { mediaTypeOf } from "../../runtime/validation/media-type.ts"
import { shown } from "../core/shown.ts"
import type { FormField } from "./api-document.ts"
import type { DocumentFields } from "./fields.ts"
import type { DocumentMap } from "./node.ts"

const styles = ["form", "spaceDelimited", "pipeDelimited", "deepObject"] as const

/** Whether a body of this type has fields. */
export function isForm(media: string): boolean {
  return /^(?:multipart\/form-data|application\/x-www-form-urlencoded)\s*(?:;|$)/i.test(media)
}

/** Reads `encoding` of a form: fields it says something about. One that says no more than a type is of consequence for parts alone. */
export function readEncoding(content: DocumentMap, media: string, fields: DocumentFields): FormField[] {
  const hasParts = /^multipart/i.test(media)
  return fields.entries(content, "encoding").flatMap(([name, { value }]) => {
    const map = fields.part(value, "an encoding")
    if (map === undefined) return []
    fields.known(map, "an encoding", ["contentType", "headers", "style", "explode", "allowReserved"])
    const headers = map.entries.get("headers")
    if (headers !== undefined) fields.report.add("SP8015", headers.key, "headers of parts are not looked at")
    const written = fields.text(map, "style")
    const style = styles.find((each) => each === (written ?? "form"))
    if (style === undefined) {
      const at = map.entries.get("style")?.value ?? map
      fields.wrong(at, `\`${shown(written ?? "")}\` is no style of a field; there is ${styles.join(", ")}`)
      return []
    }
    const said = map.entries.has("style") || map.entries.has("explode")
    const explode = map.entries.has("explode") ? fields.flag(map, "explode") : style === "form"
    const types = hasParts ? mediasOfPart(map, fields) : []
    return said || types.length > 0
      ? [{ name, style, explode: explode || style === "deepObject", media: types }]
      : []
  })
}

function mediasOfPart(map: DocumentMap, fields: DocumentFields): string[] {
  const text = fields.text(map, "contentType")
  const at = map.entries.get("contentType")?.value
  if (text === undefined || at === undefined) return []
  const medias = text.split(",").map((each) => each.trim().toLowerCase())
  const bad = medias.find((each) => mediaTypeOf(each) === undefined || each.length > 256)
  if (bad === undefined) return medias.slice(0, 20)
  fields.wrong(at, `\`${shown(bad)}\` is no media type`)
  return []
}
