/** A link that leads out of the page: over https, or to this hub itself. Others are only shown. */
import type { ReactNode } from 'react'
import { plainText } from '../format/text.ts'

type OutsideProps = { readonly href: string; readonly children?: ReactNode }

export function Outside({ href, children = plainText(href) }: OutsideProps) {
  if (!leadsSomewhere(href)) return <span title={plainText(href)}>{children}</span>
  return (
    <a href={href} target="_blank" rel="noreferrer" title={plainText(href)}>
      {children}
    </a>
  )
}

function leadsSomewhere(href: string): boolean {
  const url = URL.parse(href)
  return url !== null && (url.protocol === 'https:' || url.origin === location.origin)
}
