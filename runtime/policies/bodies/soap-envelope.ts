import { XmlElement } from "@rgrove/parse-xml"
import { readXml } from "./xml-reading.ts"

/** Namespaces of SOAP 1.1 (§4.1.2) and 1.2 (part 1 §5.1), and the media type messages of each have. */
const versions: Readonly<Record<string, string>> = {
  "http://schemas.xmlsoap.org/soap/envelope/": "text/xml",
  "http://www.w3.org/2003/05/soap-envelope": "application/soap+xml",
}

/**
 * Why a text is no SOAP message: an Envelope of either version with one Body in it, and nothing but a Header before. `media`: what the message counts as; of SOAP's own two types each is for
 * one version. Undefined when it is one. What is in the Body is not judged.
 * @throws XmlProblem for a text that is no XML
 */
export function envelopeProblem(text: string, media: string): string | undefined {
  const { root } = readXml(text)
  const [namespace, local] = nameOf(root, {})
  if (local !== "Envelope" || versions[namespace] === undefined) return "is no SOAP envelope"
  const owned = Object.values(versions).includes(media) ? media : versions[namespace]
  if (versions[namespace] !== owned) return `is not of the version of SOAP that ${media} is for`
  const parts = root.children
    .filter((each) => each instanceof XmlElement)
    .map((each) => nameOf(each, root.attributes))
    .map(([space, name]) => (space === namespace ? name : ""))
  const wanted = parts[0] === "Header" ? parts.slice(1) : parts
  return wanted.length === 1 && wanted[0] === "Body" ? undefined : "has no Body, or other elements next to it"
}

/** Namespace and local name; `around`: the attributes of the element outside. */
function nameOf(
  { name, attributes }: XmlElement,
  around: Readonly<Record<string, string>>,
): readonly [string, string] {
  const [prefix, local] = name.includes(":") ? (name.split(":", 2) as [string, string]) : ["", name]
  const declared = prefix === "" ? "xmlns" : `xmlns:${prefix}`
  return [attributes[declared] ?? around[declared] ?? "", local]
}
