import { useSignal } from "@preact/signals"
import { type ComponentType, render } from "preact"
import { useEffect } from "preact/hooks"
import { call } from "../../control/console/page/client.ts"
import { Failed, Loading } from "../../control/console/page/parts/basic.tsx"
import { addressOf, followLinks, place } from "../../control/console/page/router.ts"
import type { LogoutAnswer } from "../api.ts"
import { about, loadAbout } from "./about.ts"
import { textOf } from "./texts.ts"

type Load = () => Promise<{ readonly default: ComponentType }>

/** The page of an address. An unknown one shows the list of APIs. */
function pageOf([first, , , operation]: readonly string[]): readonly [name: string, load: Load] {
  if (first === "apis" && operation !== undefined) return ["operation", () => import("./pages/operation.tsx")]
  if (first === "apis") return ["api", () => import("./pages/api.tsx")]
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
  return Page === undefined || shown !== name ? <Loading /> : <Page key={place.value.segments.join("/")} />
}

const root = document.getElementById("app")
if (root !== null) {
  followLinks(root)
  render(<App />, root)
}
