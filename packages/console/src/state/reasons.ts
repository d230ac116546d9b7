/** Why a score moved, or did not, in words. */
const WORDS: Readonly<Record<string, string>> = {
  done: 'Done in time',
  done_late: 'Done, but late',
  failed_agent: 'The agent said that it failed',
  failed_deadline: 'Its deadline passed',
  failed_overdue: 'It never ended',
  hirer_unregistered: 'no agent hired, so it weighs as a newcomer’s',
  highest_reached: 'the scale ends here',
  lowest_reached: 'the scale ends here',
  oldest_left: 'the oldest outcome left the window',
  cancelled: 'Cancelled: does not count',
  same_owner: 'Same owner on both sides: does not count',
  unpaid: 'Nothing was paid: does not count',
  pair_limit: 'These two had enough that counts',
}

export function whyText(reasons: readonly string[]): string {
  const words = reasons.map((each) => WORDS[each] ?? each.replaceAll('_', ' '))
  return words.join('; ')
}
