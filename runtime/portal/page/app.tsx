import { useSignal } from "@preact/signals"
import { type ComponentType, render } from "preact"
import { useEffect, useErrorBoundary } from "preact/hooks"
import { call } from "../../control/console/page/client.ts"
import { Failed, Loading } from "../../control/console/page/parts/basic.tsx"
import { addressOf, followLinks, place } from "../../control/console/page/router.ts"
import type { LogoutAnswer } from "../api.ts"
import { about, loadAbout } from "./about.ts"
import { SwaggerLink } from "./parts/swagger-link.tsx"
import { textOf } from "./texts.ts"

type Load = () => Promise<{ readonly default: ComponentType }>

/** The page of an address. An unknown one shows the list of APIs. */
function pageOf([first, , , operation]: readonly string[]): readonly [name: string, load: Load] {
  if (first === "apis" && operation !== undefined) return ["operation", () => import("./pages/operation.tsx")]
  // Swagger UI has a document of its own; the server sends these pages only for a version that is not published.
  if (first === "apis" || first === "swagger") return ["api", () => import("./pages/api.tsx")]
  if (first === "products") return ["products", () => import("./pages/products.tsx")]
  if (first === "changelog") return ["changelog", () => import("./pages/changelog.tsx")]
  if (first === "pages") return ["page", () => import("./pages/page.tsx")]
  if (first === "subscriptions") return ["subscriptions", () => import("./pages/subscriptions.tsx")]
  return ["apis", () => import("./pages/apis.tsx")]
}

function App() {
  const error = useSignal<unknown>(undefined)
  const load = () => {
    error.value = undefined
    loadAbout().catch((reason: unknown) => {
      error.value = reason
    })
  }
  useEffect(load, [])
  if (error.value !== undefined) return <Failed error={error.value} retry={load} />
  if (about.value === undefined) return <Loading />
  return (
    <div class="portal">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Head />
      <main id="main" tabIndex={-1}>
        <Content />
      </main>
    </div>
  )
}

function Head() {
  const shown = about.value
  if (shown === undefined) return null
  const first = place.value.segments[0]
  const link = (name: string, text: string, segments: readonly string[]) => (
    <a key={name} href={addressOf(segments)} aria-current={name === first ? "page" : undefined}>
      {text}
    </a>
  )
  return (
    <header class="portal-head">
      <a class="brand" href={addressOf([])}>
        {shown.logo !== null && <img src={shown.logo} alt="" height={28} />}
        <span>{shown.title}</span>
      </a>
      <nav aria-label="Pages">
        <a href={addressOf([])} aria-current={first === undefined || first === "apis" ? "page" : undefined}>
          {textOf("nav.apis")}
        </a>
        {shown.canSubscribe && link("products", textOf("nav.products"), ["products"])}
        {link("changelog", textOf("nav.changelog"), ["changelog"])}
        {shown.pages.map(({ slug, title }) => (
          <a
            key={slug}
            href={addressOf(["pages", slug])}
            aria-current={first === "pages" && place.value.segments[1] === slug ? "page" : undefined}
          >
            {title}
          </a>
        ))}
        {shown.person && link("subscriptions", textOf("nav.subscriptions"), ["subscriptions"])}
      </nav>
      <Account />
    </header>
  )
}

function Account() {
  const failure = useSignal<string | undefined>(undefined)
  const { signIn, person } = about.value ?? {}
  if (!signIn) return null
  if (!person)
    return (
      <a class="button primary" rel="external" href={signInAddress(signIn.login)}>
        {textOf("sign-in")}
      </a>
    )
  const signOut = async () => {
    const { page } = await call<LogoutAnswer>("POST", signIn.logout, {})
    location.assign(page ?? "/")
  }
  return (
    <div class="account">
      <span class="quiet">{person.name}</span>
      <button
        type="button"
        onClick={() => {
          signOut().catch((error: Error) => {
            failure.value = error.message
          })
        }}
      >
        {textOf("sign-out")}
      </button>
      {failure.value !== undefined && <span role="alert">{failure.value}</span>}
    </div>
  )
}

/** The login leads back to this view. */
function signInAddress(login: string): string {
  // The place makes this follow the view.
  const { segments, query } = place.value
  const target = addressOf(segments, Object.fromEntries(query))
  return `${login}?${new URLSearchParams({ return_to: target })}`
}

/** The page of the address, loaded when it is first opened. */
function Content() {
  const [name, load] = pageOf(place.value.segments)
  const loaded = useSignal<readonly [string, ComponentType] | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const open = () => {
    error.value = undefined
    load().then(
      (page) => {
        loaded.value = [name, page.default]
      },
      (reason: unknown) => {
        error.value = reason
      },
    )
  }
  useEffect(open, [name])
  if (error.value !== undefined) return <Failed error={error.value} retry={open} />
  const [shown, Page] = loaded.value ?? []
  if (Page === undefined || shown !== name) return <Loading />
  return <Guarded key={place.value.segments.join("/")} page={Page} />
}

/** Documents are texts of others: one that breaks a page leaves the rest of the portal usable. */
function Guarded({ page: Page }: { readonly page: ComponentType }) {
  const [error] = useErrorBoundary()
  if (error === undefined) return <Page />
  const [first, api, version] = place.value.segments
  return (
    <div class="notice bad" role="alert">
      <p>This page cannot be shown: {error instanceof Error ? error.message : String(error)}.</p>
      {first === "apis" && api !== undefined && version !== undefined && (
        <p>
          The whole document can be opened in <SwaggerLink api={api} version={version} />.
        </p>
      )}
    </div>
  )
}

const root = document.getElementById("app")
if (root !== null) {
  followLinks(root)
  render(<App />, root)
}
