/**
 * From findings to a verdict: whether content may go on, how sure the judge is, and whether a
 * person must look.
 *
 *   V1  An error makes content invalid and asks for a person; so does low confidence.
 *   V2  The worst comes first; where there are more findings than fit, the mildest are left out.
 *   V3  Each finding lowers the confidence and none raises it; ten warnings weigh more than one
 *       error, as they would with a reader.
 */
import { REVIEW_BELOW } from '@chimera/dialects/skills/content'
import type { ValidateContentOutput } from '@chimera/dialects/skills/schema'
import type { Finding } from './finding.ts'

// What is left of the confidence after one of them.
const LEFT: Readonly<Record<Finding['severity'], number>> = {
  error: 0.4,
  warning: 0.85,
  info: 0.98,
}
const ORDER: readonly Finding['severity'][] = ['error', 'warning', 'info']
/** As many as the answer may carry. */
const MOST_ISSUES = 100

export function verdictOf(findings: readonly Finding[]): ValidateContentOutput {
  const confidence = findings.reduce((left, { severity }) => left * LEFT[severity], 1)
  const score = Math.round(confidence * 100) / 100
  const hasError = findings.some(({ severity }) => severity === 'error')
  const issues = findings
    .toSorted((one, other) => ORDER.indexOf(one.severity) - ORDER.indexOf(other.severity))
    .slice(0, MOST_ISSUES)
  return {
    valid: !hasError,
    confidence_score: score,
    issues: issues.map(({ span, ...issue }) => ({ ...issue, ...(span && { span }) })),
    requires_human_review: hasError || score < REVIEW_BELOW,
  }
}
