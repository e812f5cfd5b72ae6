import { signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { LoginAnswer } from "../../api.ts"
import { get, signIn, signInAt } from "./client.ts"
import { Field } from "./parts/basic.tsx"

/** Why the page could not begin: a used link, or no response. */
export const startError = signal<string | undefined>(undefined)

const loginFailures: Readonly<Record<string, string>> = {
  forbidden:
    "Your account has no role for the control API. An administrator gives roles in `control` of gateway.conf.",
  unauthenticated: "The issuer's token is not accepted here. The log of the process has the reason.",
  "login-invalid":
    "The login was not begun in this browser, was used before or took longer than ten minutes. Begin again.",
  "login-refused": "The issuer refused the login.",
  "session-too-large": "The issuer's token is too long for cookies.",
  "issuer-unavailable": "The issuer does not respond. Try again later.",
}

/** The text for a failed login at an issuer, by the name in the address. */
export function loginFailureText(name: string): string {
  return loginFailures[name] ?? "The login failed. The log of the process has the reason."
}

/** The issuers at which people can sign in. */
function Issuers() {
  const issuers = useSignal<readonly string[]>([])
  useEffect(() => {
    // Without them, the token is left.
    get<LoginAnswer>("/v1/login").then(
      ({ logins }) => {
        issuers.value = logins.map(({ issuer }) => issuer)
      },
      () => undefined,
    )
  }, [])
  if (issuers.value.length === 0) return null
  const open = (issuer: string) =>
    signInAt(issuer).catch((error: Error) => {
      startError.value = error.message
    })
  return (
    <div class="issuers">
      {issuers.value.map((issuer) => (
        <button key={issuer} type="button" class="primary" onClick={() => open(issuer)}>
          Sign in with {issuer}
        </button>
      ))}
      <p class="quiet">or</p>
    </div>
  )
}

/** The page for operators who are not signed in. */
export function SignIn() {
  const token = useSignal("")
  const isBusy = useSignal(false)
  const send = async (event: Event) => {
    event.preventDefault()
    isBusy.value = true
    startError.value = undefined
    try {
      await signIn({ token: token.value.trim() })
    } catch (error) {
      startError.value = (error as Error).message
    }
    isBusy.value = false
  }
  return (
    <main class="sign-in">
      <form onSubmit={send}>
        <h1>Sallyport</h1>
        <Issuers />
        <Field
          id="token"
          label="Token"
          error={startError.value}
          hint={
            <>
              The control token, a token of a machine, or that of <code>sallyport login</code>.
            </>
          }
        >
          <input
            id="token"
            type="password"
            autocomplete="current-password"
            aria-describedby="token-hint"
            required
            value={token.value}
            onInput={(event) => {
              token.value = event.currentTarget.value
            }}
          />
        </Field>
        <button type="submit" class="primary" disabled={isBusy.value}>
          Sign in
        </button>
        <p class="quiet">
          Or print a link that signs in once: <code>npx sallyport console</code>
        </p>
      </form>
    </main>
  )
}
