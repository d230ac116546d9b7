/** Which files of a checkout are ours to keep tidy. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'vitest'
import { readTree } from './tree.ts'

test('sources and manifests, but nothing that is installed, built or generated', () => {
  const root = mkdtempSync(join(tmpdir(), 'chimera-tree-'))
  const ours = [
    'vitest.config.ts',
    'package.json',
    'packages/domain/package.json',
    'packages/domain/src/money.ts',
    'packages/console/src/page.tsx',
    'packages/cli/bin/chimera.js',
    'tools/ready.mjs',
  ]
  const others = [
    'README.md',
    'docs/sample.ts',
    'node_modules/a/index.js',
    'packages/domain/node_modules/a/index.js',
    'packages/domain/dist/money.js',
    'packages/domain/tsconfig.json',
    'packages/dialects/schemas/job.ts',
    'packages/hub/src/generated/job.ts',
    'conformance/vectors/chorus/job.ts',
  ]
  try {
    for (const path of [...ours, ...others]) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), path)
    }
    const found = [...readTree(root)]
    assert.deepEqual(found.map(({ path }) => path).toSorted(), ours.toSorted())
    for (const { path, text } of found) assert.equal(text, path)
  } finally {
    rmSync(root, { recursive: true })
  }
})
