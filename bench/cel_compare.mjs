// Compares the expression language with @marcbachmann/cel-js (MIT) in one run, by CPU time:
//   bench/cel_compare
// The package is fetched with npm into build/cel-js, and never becomes part of the program.
import {execFileSync} from 'node:child_process'
import {existsSync, mkdirSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath, pathToFileURL} from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const folder = join(root, 'build', 'cel-js')
const library = join(folder, 'node_modules', '@marcbachmann', 'cel-js')
if (!existsSync(library)) {
  mkdirSync(folder, {recursive: true})
  writeFileSync(join(folder, 'package.json'), '{"private": true}')
  execFileSync('npm', ['install', '--silent', '@marcbachmann/cel-js@8.0.0'], {cwd: folder, stdio: 'inherit'})
}
const {Environment} = await import(pathToFileURL(join(library, 'lib', 'index.js')))

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true
})
const operators = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b
}
for (const [op, apply] of Object.entries(operators)) {
  environment.registerOperator(`double ${op} int`, (a, b) => apply(a, Number(b)))
  environment.registerOperator(`int ${op} double`, (a, b) => apply(Number(a), b))
}

// The best of several rounds of at least 50 ms each.
function measure(work) {
  let turns = 16
  let best = Infinity
  for (let round = 0; round < 4; ) {
    const begin = process.cpuUsage()
    for (let i = 0; i < turns; ++i) work()
    const {user, system} = process.cpuUsage(begin)
    const spent = (user + system) * 1000
    if (spent < 5e7) {
      turns *= 2
      continue
    }
    best = Math.min(best, spent / turns)
    ++round
  }
  return best
}

// The same expressions and variables as in cel_bench.cc.
const cases = {
  arithmetic: '(a + b) * c - a / 2 + 7 * b',
  fields: 'inputs.user.name == "ann" && inputs.user.age >= 18',
  exists: 'nums.exists(x, x == 999)',
  strings: '"hello, " + first + " " + last + "!" + string(a)',
  regex: 'email.matches("^[a-z.]+@[a-z]+[.]com$")',
  filter: 'modelType == "command/shell" && size > 100'
}
const variables = {
  a: 3,
  b: 4,
  c: 5,
  inputs: {user: {name: 'ann', age: 30, roles: ['admin', 'dev']}, name: 'web'},
  nums: Array.from({length: 1000}, (_, i) => i),
  modelType: 'command/shell',
  size: 150,
  email: 'ann.lee@example.com',
  first: 'Ann',
  last: 'Lee'
}

function measureTheirs() {
  const times = {}
  for (const [name, text] of Object.entries(cases)) {
    const evaluate = environment.parse(text)
    evaluate(variables)
    times[`parse ${name}`] = measure(() => environment.parse(text))
    times[`evaluate ${name}`] = measure(() => evaluate(variables))
    times[`text to value, ${name}`] = measure(() => environment.evaluate(text, variables))
  }
  const filter = environment.parse(cases.filter)
  const rows = Array.from({length: 100_000}, (_, i) => ({
    modelType: i % 3 === 0 ? 'command/shell' : 'aws/ec2-instance',
    size: i % 200
  }))
  times['filter 100,000 records'] = measure(() => rows.filter((row) => filter(row)).length)
  return times
}

// In turns, so that what else the machine does meets both.
const ours = {}
const theirs = {}
for (let turn = 0; turn < 3; ++turn) {
  const keepBest = (best, times) => {
    for (const [name, time] of Object.entries(times)) best[name] = Math.min(best[name] ?? Infinity, time)
  }
  keepBest(ours, JSON.parse(execFileSync(process.argv[2], {encoding: 'utf8'})))
  keepBest(theirs, measureTheirs())
}
const rank = (name) => ['parse', 'evaluate', 'text', 'filter'].findIndex((word) => name.startsWith(word))
const names = Object.keys(ours).sort((a, b) => rank(a) - rank(b))
const show = (time) => (time >= 1e6 ? `${(time / 1e6).toFixed(2)} ms` : `${time.toFixed(0)} ns`)
console.log('| CPU time | swamp | cel-js | ratio |\n| --- | ---: | ---: | ---: |')
for (const name of names) {
  console.log(`| ${name} | ${show(ours[name])} | ${show(theirs[name])} | ${(theirs[name] / ours[name]).toFixed(1)} |`)
}
