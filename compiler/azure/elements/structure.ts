import type { Shape } from "../shape.ts"
import type { DocumentSection } from "../site.ts"

/** An element that is no policy, and what it does, in a sentence, for editors. */
interface StructureRow extends Shape {
  readonly about: string
}

/** Elements in sections that control how documents are combined. */
export const combining: Readonly<Record<"base" | "include-fragment", StructureRow>> = {
  base: { about: "Inserts the policies of the outer documents: of the gateway, product, API or version." },
  "include-fragment": {
    about: "Inserts the policies of a fragment that `xml { fragment … }` of gateway.conf names.",
    attributes: { "fragment-id": { required: true } },
  },
}

/** The roots of documents. */
export const roots: Readonly<Record<"policies" | "fragment", StructureRow>> = {
  policies: { about: "A document of policies, with a section for each part of a request." },
  fragment: { about: "Policies that documents include by `include-fragment`.", policies: true },
}

/** The sections of a document. */
export const sectionRows: Readonly<Record<DocumentSection, StructureRow>> = {
  inbound: { about: "Runs before the request is sent to the backend.", policies: true },
  backend: { about: "Sends the request to the backend.", policies: true },
  outbound: { about: "Runs on the response, before the caller gets it.", policies: true },
  "on-error": { about: "Runs when a policy or the backend fails.", policies: true },
}
