import { signal, useSignal } from "@preact/signals"
import { signIn } from "./client.ts"
import { Field } from "./parts/basic.tsx"

/** Why the page could not begin: a used link, or no response. */
export const startError = signal<string | undefined>(undefined)

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
