import { XmlElement } from "@rgrove/parse-xml"
import { readXml } from "./xml-reading.ts"

/** Namespaces of SOAP 1.1 (§4.1.2) and 1.2 (part 1 §5.1), each with the media type of its messages. */
const versions: Readonly<Record<string, string>> = {
  "http://schemas.xmlsoap.org/soap/envelope/": "text/xml",
  "http://www.w3.org/2003/05/soap-envelope": "application/soap+xml",
}

/**
 * Why a text is not a SOAP message: it must be an Envelope of either version that contains exactly one Body and before it at most a Header. Undefined
 * when it is valid; the content of the Body is not checked. `media`: the media type the message counts as; each of SOAP's two types belongs to one
 * version.
 * @throws XmlProblem for invalid XML
 */
export function envelopeProblem(text: string, media: string): string | undefined {
  const { root } = readXml(text)
  const [namespace, local] = nameOf(root, {})
  if (local !== "Envelope" || versions[namespace] === undefined) return "is not a SOAP envelope"
  const owned = Object.values(versions).includes(media) ? media : versions[namespace]
  if (versions[namespace] !== owned) return `is not of the SOAP version that belongs to ${media}`
  const parts = root.children
    .filter((each) => each instanceof XmlElement)
    .map((each) => nameOf(each, root.attributes))
    .map(([space, name]) => (space === namespace ? name : ""))
  const wanted = parts[0] === "Header" ? parts.slice(1) : parts
  return wanted.length === 1 && wanted[0] === "Body" ? undefined : "has no Body, or other elements next to it"
}

/** Namespace and local name; `around`: the attributes of the parent element. */
function nameOf(
  { name, attributes }: XmlElement,
  around: Readonly<Record<string, string>>,
): readonly [string, string] {
  const [prefix, local] = name.includes(":") ? (name.split(":", 2) as [string, string]) : ["", name]
  const declared = prefix === "" ? "xmlns" : `xmlns:${prefix}`
  return [attributes[declared] ?? around[declared] ?? "", local]
}
