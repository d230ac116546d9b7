/** A link that leads out of the page: over https, or to this hub itself. Others are only shown. */
import type { ReactNode } from 'react'
import { plainText } from '../format/text.ts'

type OutsideProps = { readonly href: string; readonly children?: ReactNode }

export function Outside({ href, children = plainText(href) }: OutsideProps) {
  const to = leadingTo(href)
  if (to === undefined) return <span title={plainText(href)}>{children}</span>
  return (
    <a href={to} target="_blank" rel="noreferrer" title={plainText(href)}>
      {children}
    </a>
  )
}

function leadingTo(href: string): string | undefined {
  const url = URL.parse(href)
  if (url === null) return undefined
  if (url.protocol === 'https:' || url.origin === location.origin) return href
  // A hub of this machine may have had another port when it published.
  const isOwn = url.protocol === 'http:' && url.hostname === location.hostname
  return isOwn && /^\/posts\/[\w-]+$/.test(url.pathname) ? url.pathname : undefined
}
