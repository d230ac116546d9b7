/** Content by state: a lane for each stretch of its way, the latest first. */
import type { ReactNode } from 'react'
import { useState } from 'react'
import { percentText } from '../format/figures.ts'
import { type BoardPiece, LANES, type Lane, type Board as Lanes } from '../state/pieces.ts'
import { PLATFORM_NAMES } from '../state/review.ts'
import { Outside } from './outside.tsx'
import { Ago, Badge, Link, Name } from './shown.tsx'

const LANE_NAMES: Readonly<Record<Lane, string>> = {
  found: 'Found',
  making: 'In the making',
  waiting: 'Waits for a person',
  published: 'Published',
  ended: 'Ended',
}

const LANE_NONE: Readonly<Record<Lane, string>> = {
  found: 'no trend waits',
  making: 'nothing is being written',
  waiting: 'nothing waits',
  published: 'nothing yet',
  ended: 'nothing',
}

/** So many of a lane at first: what did not fit is the most and matters the least. */
const MOST = 6

type BoardProps = { readonly board: Lanes; readonly named: boolean }

export function Board({ board, named }: BoardProps) {
  return (
    <div className="board">
      {LANES.map((lane) => (
        <section key={lane} className={`lane lane-${lane}`} aria-label={LANE_NAMES[lane]}>
          <h3>
            {LANE_NAMES[lane]} <span className="muted num">{board[lane].length}</span>
          </h3>
          {board[lane].length === 0 ? (
            <p className="muted small">{LANE_NONE[lane]}</p>
          ) : (
            <Pieces pieces={board[lane]} named={named} />
          )}
        </section>
      ))}
    </div>
  )
}

type PiecesProps = { readonly pieces: readonly BoardPiece[]; readonly named: boolean }

function Pieces({ pieces, named }: PiecesProps): ReactNode {
  const [all, setAll] = useState(false)
  const shown = all ? pieces : pieces.slice(0, MOST)
  return (
    <>
      <ul>
        {shown.map((each) => (
          <li key={`${each.campaign.campaign_id} ${each.piece.piece_id}`}>
            <Piece own={each} named={named} />
          </li>
        ))}
      </ul>
      {shown.length < pieces.length && (
        <button type="button" className="quiet" onClick={() => setAll(true)}>
          Show all {pieces.length}
        </button>
      )}
    </>
  )
}

function Piece({ own, named }: { readonly own: BoardPiece; readonly named: boolean }) {
  const { piece, campaign, standing, at, words } = own
  const { topic, platform, relevance, confidence, review_id, post_url } = piece
  return (
    <article className="piece">
      <p className="topic">
        <Name text={topic} />
      </p>
      <p className="piece-facts">
        <Badge tone={standing.tone}>{standing.words}</Badge>
        <span>{PLATFORM_NAMES[platform]}</span>
        {relevance !== undefined && (
          <span className="num" title="How well it fits the goals">
            fits {percentText(relevance)}
          </span>
        )}
        {confidence !== undefined && (
          <span className="num" title="How sure its writer and its judge are">
            sure {percentText(confidence)}
          </span>
        )}
      </p>
      {words !== undefined && (
        <p className="muted small">
          <Name text={words} />
        </p>
      )}
      <p className="piece-foot">
        {named && (
          <Link to={{ screen: 'campaigns', id: campaign.campaign_id }}>
            <Name text={campaign.name} />
          </Link>
        )}
        {review_id !== undefined && standing.lane === 'waiting' && (
          <Link to={{ screen: 'review', id: review_id }} className="act">
            Review it
          </Link>
        )}
        {review_id !== undefined && standing.lane !== 'waiting' && (
          <Link to={{ screen: 'review', id: review_id }}>Review</Link>
        )}
        {post_url !== undefined && <Outside href={post_url}>Post</Outside>}
        <Ago at={at} />
      </p>
    </article>
  )
}
