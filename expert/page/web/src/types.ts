// What the C++ side (expert/page/page.cc) writes into the page.

export type ColumnPlace = [encoding: string, offset: number, count: number];
export interface Packed {
  precision: string;
  rows: number;
  leftOut: number;
  columns: Record<string, ColumnPlace>;
}

export interface MetricInfo {
  parent: number;
  title: string;
  name: string;
  unit: string;
  description?: string;
  meaning?: string;
  advice?: string;
  pattern?: boolean;
}

export interface Bottleneck {
  metric: number;
  call: number;
  seconds: number;
  share: number;
  waiting: number;
  worst: [string, number][];
  waitedFor?: string; // the one location that hardly waits
  profile: number[];
  parts: [number, number][];
}

// One that waits, or at the end of a chain what the one awaited does.
export interface Step {
  row: number; // location of the trace
  begin: number; // seconds since its first event
  end: number;
  call: number; // -1: unknown
  words: string;
  lead?: string; // of the chain on the first screen: "rank 3 waits 0.21 s"
  rest?: string; // and where, until who does what
  cause?: true; // it waits for nobody: what the one awaited does
}

export interface Instance {
  metric: string;
  seconds: number;
  begin: number;
  end: number;
  call: number;
  rows: number[]; // locations of the trace, as on the timeline
  further?: number; // that wait too
  cause?: number; // location whose call ended most of the waiting
  causeCall?: string; // with its place in the code
  causeExit?: boolean; // by its exit, else by its enter
  furtherCauses?: number;
  object?: string; // "window 0"
  beside?: boolean; // the worst of its call path only
  chain?: Step[]; // of its longest wait to the cause
  leftOut?: number; // steps before the first one
}

// For whom the calls of a pattern at a call path waited, over the whole run.
export interface Partner {
  metric: string;
  call: number;
  row: number; // location of the trace
  by: string;
  exit?: boolean;
  seconds: number;
}

// Processes that stood at the same call for the same reason when their run was ended: a sentence in parts.
export interface LastCall {
  who: string;
  does: string; // "stands in"
  name: string; // of the call, with its place in the code
  times: string;
  awaits: string; // may be empty
  call: number; // -1: unknown
}

// Calls of one function at one place that returned the same class of error.
export interface FailedCalls {
  words: string;
  call: number; // -1: unknown
  rows: number[]; // where on the timeline the first of them stand
  times: number[]; // seconds
}

export type SaidPiece = [text: string, is: string]; // "share", "who", "function", "place", "gain", "lead" or ""
export interface Sentence {
  is: string; // "missing", "ended", "processors", "share", "who", "not_attributed", "try"
  pieces: SaidPiece[];
}

export interface GroupSource {
  file: number;
  rows: [line: number, mark: string, note: string][]; // line 0: a gap
}

// Causes put together: all that one function does to make others wait. Numbers with their units.
export interface Group {
  number: string;
  title: string;
  who: string;
  place: string;
  seconds: number;
  waits: string;
  share: string;
  gain: string;
  gainShare: string;
  gainWords: string;
  how: string;
  call: number; // -1: unknown
  inCalls?: boolean; // it is calls that take longer
  culprits?: number[]; // rows of the trace, who makes others wait most first
  victims?: number[]; // and who waits most
  source?: GroupSource;
  chain?: Step[]; // of its largest cause, from the one that waits last
  leftOut?: number;
  patterns: [name: string, call: number, seconds: number][]; // call -1: at other places
  profile?: [name: string, makesWait: number, waits: number][];
  profileOf?: string;
  parts?: Group[];
}

// Calls whose time no wait explains.
export interface Consumer {
  metric: number;
  call: number; // where most of it passes
  seconds: number;
  part: number; // of the metric's time, there
}

export interface TopologyInfo {
  name: string;
  sizes: number[];
  periodic: boolean[];
  names: string[];
  points: number[][]; // system node, then coordinates
}

export interface TraceInfo {
  file: string;
  begin: number; // seconds of the first event
  end: number;
  events: number;
  processes: number;
  ranksPerBlock: number; // of the byte matrix
  processWord: string; // what a process is called: "rank", "thread" of UPC
  rows: { name: string; rank: number; location: number }[];
  regions: { name: string[]; kind: number[] };
  paths: { region: number[]; call: number[] }; // call paths of the analysis: region, place in the report or -1
  metrics: string[]; // unique names: what waits are of
  columnsOfDensity: number;
  windows: string[];
  windowSites: string[]; // where they were created, "" where that is not known
  communicators: { name: string; site: string; ranks: string }[]; // of some processes: "0-3,8"
  omitted: string[]; // sentences
  columns: Record<string, ColumnPlace>;
}

export interface SourceLines {
  file: number;
  first: number; // number of the first line
  lines: string[];
  changed?: boolean; // after the run
}

export interface ReportInfo {
  title: string;
  tool: string;
  file: string;
  ran?: string; // processes, nodes, time; of one run
  beforeFile?: string; // present in a comparison of two reports
  locationsOfBoth?: [before: number, after: number];
  cubeVersion: string;
  byLocation: boolean;
  locations: number;
  processWord: string; // as in TraceInfo
  notes: string[];
  run: [name: string, value: string][]; // command, start, MPI ...; empty if the report does not tell
  metrics: MetricInfo[];
  regions: { name: string[]; file: number[]; begin: number[] };
  calls: { parent: number[]; region: number[]; line: number[]; file: number[] };
  callers?: string[]; // functions that the calls stand in, "" where it is not known
  files: string[];
  source?: SourceLines[]; // around the calls, where the files were there when the page was made
  system: { parent: number[]; kind: number[]; name: string[]; rank: number[]; location: number[] };
  topologies: TopologyInfo[];
  overview?: {
    seconds: number; // of all processes
    whole: number; // what shares are of
    wholeWords: string; // what that leaves out; may be empty
    shares: { kind: string; seconds: number }[];
    below: number;
    belowSeconds: number;
    bottlenecks: Bottleneck[];
    consumers: Consumer[];
  };
  lastCalls?: LastCall[]; // only of a run that was ended from outside
  furtherLastCalls?: number;
  deadlocks?: string[];
  failedCalls?: FailedCalls[]; // calls that returned an error
  furtherFailedCalls?: number;
  verdict?: { sentences: Sentence[]; group?: number }; // only with a trace
  bar?: { of: string; parts: { kind: string; name: string; share: string; time: string; seconds: number }[] };
  groups?: Group[]; // only if the analysis was asked for root causes
  groupsSaid?: string;
  chainSaid?: string; // of how much waiting the chain on the first screen tells
  efficiency?: { depth: number; name: string; words: string; share: string; value: number }[];
  waits?: number; // seconds of all waiting
  path?: { row: number[]; begin: number[]; end: number[] }; // the critical one
  instances?: Instance[];
  partners?: Partner[];
  sums: Packed;
  sumsBefore?: Packed;
  values: Packed;
  trace?: TraceInfo;
}
