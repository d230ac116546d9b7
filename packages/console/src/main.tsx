/** Begins the page: finds its place in the document and draws it there. */
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import 'uplot/dist/uPlot.min.css'
import './styles/tokens.css'
import './styles/frame.css'
import './styles/parts.css'
import './styles/screens.css'
import './styles/review.css'
import { App } from './app.tsx'
import { takeToken } from './hub/address.ts'
import { createAsker } from './hub/ask.ts'
import { createSession, tabStorage } from './hub/session.ts'

const place = document.getElementById('page')
if (place !== null) {
  const session = createSession(tabStorage())
  const token = takeToken(location, (address) => history.replaceState(null, '', address))
  if (token !== undefined) session.signIn(token, true)
  createRoot(place).render(
    <StrictMode>
      <App session={session} ask={createAsker(session.token)} />
    </StrictMode>,
  )
}
