/** Where a token is asked for. It is sent to this hub and nowhere else, and never shown again. */
import { type FormEvent, useState } from 'react'
import type { HubRefused } from '../hub/ask.ts'
import { Refusal } from '../parts/states.tsx'

type SignInProps = {
  readonly error: HubRefused | undefined
  readonly signIn: (token: string, kept: boolean) => Promise<void>
}

export function SignIn({ error, signIn }: SignInProps) {
  const [busy, setBusy] = useState(false)

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const said = form.get('token')
    const token = typeof said === 'string' ? said.trim() : ''
    if (token === '') return
    setBusy(true)
    await signIn(token, form.get('kept') === 'on').finally(() => setBusy(false))
  }

  return (
    <main className="door">
      <form onSubmit={(event) => void submit(event)}>
        <h1>Chimera</h1>
        <p className="muted">
          This hub asks who you are. An operator’s token shows everything, an owner’s what the owner
          is a party to.
        </p>
        <label htmlFor="token">Token</label>
        <input
          id="token"
          name="token"
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          required
          // biome-ignore lint/a11y/noAutofocus: the one thing that this page is for
          autoFocus
        />
        <label className="check">
          <input name="kept" type="checkbox" /> Keep it for this tab, so that a reload does not ask
          again
        </label>
        {error && <Refusal error={error} />}
        <button type="submit" className="primary" disabled={busy}>
          Sign in
        </button>
        <p className="muted small">
          The hub’s first start shows the operator’s token once. <code>chimera token</code> makes
          further ones.
        </p>
      </form>
    </main>
  )
}
