import { useSignal } from "@preact/signals"
import { render } from "preact"
import { useEffect, useRef } from "preact/hooks"
import SwaggerUI, { type BundledReact } from "swagger-ui-dist/swagger-ui-es-bundle.js"
import { get } from "../../../control/console/page/client.ts"
import { place } from "../../../control/console/page/router.ts"
import type { DocumentObject } from "../../api.ts"
import { about, loadAbout } from "../about.ts"
import { Markdown } from "../parts/markdown.tsx"
import { withPastedTokens } from "./pasted-tokens.ts"

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

/** Swagger UI with the document of one version of an API. */
function App() {
  const [api = "", version = "-"] = place.value.segments
  const path = [api, version].map(encodeURIComponent).join("/")
  const source = `/api/apis/${path}/openapi.json`
  const error = useSignal<string | undefined>(undefined)
  const content = useRef<HTMLDivElement>(null)
  const open = async () => {
    const [document] = await Promise.all([get<DocumentObject>(source), loadAbout()])
    if (content.current !== null) openDocument(content.current, document)
  }
  useEffect(() => {
    open().catch((reason: unknown) => {
      error.value = reason instanceof Error ? reason.message : String(reason)
    })
  }, [])
  return (
    <>
      <header class="swagger-head">
        <a href={`/apis/${path}`}>← {about.value?.title ?? "Developer portal"}</a>
        <a href={source} download={`${api}.json`}>
          OpenAPI document
        </a>
      </header>
      <main>
        {error.value !== undefined && <p role="alert">{error.value}</p>}
        <div ref={content} />
      </main>
    </>
  )
}

/** Without `try-it` in the plan, Swagger UI sends no request. */
function openDocument(domNode: HTMLElement, document: DocumentObject): void {
  SwaggerUI({
    domNode,
    spec: withPastedTokens(document),
    deepLinking: true,
    // A credential is only in the memory of this page.
    persistAuthorization: false,
    // A link could open a document of another server otherwise.
    queryConfigEnabled: false,
    supportedSubmitMethods: about.value?.tryIt === true ? methods : [],
    validatorUrl: null,
    plugins: [({ React }) => ({ wrapComponents: { Markdown: () => portalMarkdown(React) } })],
  })
}

/** The portal's Markdown in place of Swagger UI's, which inserts HTML: the policy of the portal (Trusted Types) forbids that. */
function portalMarkdown(React: BundledReact) {
  return ({ source }: { readonly source?: unknown }) => {
    // Its own labels are HTML: `<i>Default value</i> : 1`.
    const text = typeof source === "string" ? source.replace(/^<i>([\w ]+)<\/i>/, "*$1*") : ""
    const ref = (node: HTMLElement | null) => {
      if (node !== null) showMarkdown(text, node)
    }
    return React.createElement("div", { className: "renderedMarkdown", ref })
  }
}

/** This page is for documents that the others cannot show, so text that is nested too deeply is shown as it is. */
function showMarkdown(text: string, node: HTMLElement): void {
  try {
    render(<Markdown text={text} />, node)
  } catch {
    node.textContent = text
  }
}

/** Swagger UI has its dark colours below a class of the root. */
function followTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)")
  const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches)
  dark.addEventListener("change", follow)
  follow()
}

const root = document.getElementById("app")
if (root !== null) {
  followTheme()
  render(<App />, root)
}
