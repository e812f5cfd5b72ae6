import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect, useMemo, useRef } from "preact/hooks"
import type { WhoamiAnswer } from "../../api.ts"
import { may, signOut } from "./client.ts"
import { linkState, status } from "./events.ts"
import { Keys, useKeys } from "./keys.tsx"
import { Badge, Failed, Loading } from "./parts/basic.tsx"
import { addressOf, pageName, place } from "./router.ts"

/** A page of the console. `key`: the letter that opens it after `g`; `needs`: the operation that its operator may do at least. */
interface Page {
  readonly name: string
  readonly title: string
  readonly key: string
  readonly needs: string
  load(): Promise<{ readonly default: ComponentType }>
}

/** The pages, each loaded when it is opened. */
const allPages: readonly Page[] = [
  {
    name: "overview",
    title: "Overview",
    key: "o",
    needs: "traffic",
    load: () => import("./pages/overview.tsx"),
  },
  { name: "routes", title: "Routes", key: "r", needs: "plan.read", load: () => import("./pages/routes.tsx") },
  { name: "try", title: "Try it", key: "t", needs: "explain", load: () => import("./pages/try.tsx") },
  {
    ...{ name: "access", title: "Access", key: "a", needs: "engine.read" },
    load: () => import("./pages/access.tsx"),
  },
  { name: "log", title: "Log", key: "l", needs: "traffic", load: () => import("./pages/log.tsx") },
  {
    name: "model",
    title: "Model",
    key: "m",
    needs: "engine.read",
    load: () => import("./pages/models.tsx"),
  },
  { name: "plans", title: "Plans", key: "p", needs: "plan.read", load: () => import("./pages/plans.tsx") },
  {
    ...{ name: "products", title: "Products", key: "d", needs: "subscription.read" },
    load: () => import("./pages/products.tsx"),
  },
  {
    ...{ name: "subscriptions", title: "Subscriptions", key: "s", needs: "subscription.read" },
    load: () => import("./pages/subscriptions.tsx"),
  },
  { name: "usage", title: "Usage", key: "u", needs: "usage", load: () => import("./pages/usage.tsx") },
  {
    name: "backends",
    title: "Backends",
    key: "b",
    needs: "status",
    load: () => import("./pages/backends.tsx"),
  },
]

/** The frame around every page: navigation, who is signed in, and whether what is shown is live. */
export function Shell({ me }: { readonly me: WhoamiAnswer }) {
  const pages = useMemo(() => allPages.filter(({ needs }) => may("viewer", needs)), [me])
  const current = pages.find(({ name }) => name === pageName.value)
  useKeys(pages)
  const main = useRef<HTMLElement>(null)
  useTitle(main, current?.title ?? "Not found")
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href={addressOf([])}>
          Sallyport
        </a>
        <nav aria-label="Pages">
          {pages.map(({ name, title }) => (
            <a key={name} href={addressOf([name])} aria-current={name === current?.name ? "page" : undefined}>
              {title}
            </a>
          ))}
          <a href="/playground/" rel="noopener" target="_blank">
            Playground
          </a>
        </nav>
        <Foot me={me} />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Connection />
        {current === undefined ? <NotFound /> : <Loaded key={current.name} page={current} />}
      </main>
      <Keys pages={pages} />
    </div>
  )
}

/** Moves the focus to the title of a new page, and names the tab. */
function useTitle(main: { readonly current: HTMLElement | null }, title: string): void {
  const isFirst = useRef(true)
  const name = place.value.segments[1]
  useEffect(() => {
    document.title = `${name === undefined ? title : name} · Sallyport`
  }, [title, name])
  useEffect(() => {
    // On a phone the row of pages is wider than the screen.
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" })
    if (!isFirst.current) main.current?.querySelector("h1")?.focus()
    isFirst.current = false
  }, [title])
}

function Foot({ me }: { readonly me: WhoamiAnswer }) {
  const serial = status.value?.serial
  return (
    <div class="foot">
      <div class="who">
        <span class="who-name" title={me.name}>
          {me.name}
        </span>
        <span class="quiet">{me.role}</span>
      </div>
      {serial !== undefined && <span class="quiet">{serial === null ? "no plan" : `serial ${serial}`}</span>}
      <button type="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </div>
  )
}

/** Says when what is shown is not live any more. */
function Connection() {
  const state = linkState.value
  return (
    <div role="status" class="connection">
      {state === "lost" && (
        <p class="notice warn">
          <Badge tone="warn">not live</Badge> The connection to the process was lost. Trying again …
        </p>
      )}
    </div>
  )
}

function Loaded({ page }: { readonly page: Page }) {
  const content = useSignal<ComponentType | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const load = () => {
    error.value = undefined
    page.load().then(
      (module) => {
        content.value = module.default
      },
      (reason: unknown) => {
        error.value = reason
      },
    )
  }
  useEffect(load, [page])
  const Content = content.value
  if (error.value !== undefined) return <Failed error={error.value} retry={load} />
  return Content === undefined ? <Loading /> : <Content />
}

function NotFound() {
  return (
    <div class="empty">
      <h1 tabIndex={-1}>Page not found</h1>
      <p class="quiet">
        There is no page at this address. <a href={addressOf([])}>Overview</a>
      </p>
    </div>
  )
}
