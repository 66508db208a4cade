package endpoint

import (
	"reflect"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
)

// keys describes the keys of this kind.
var keys = config.Keys{
	reflect.TypeFor[body](): {
		"preset":        {Text: "A suite of `accelgate bench run --list`. Its keys are defaults of all other keys."},
		"suite_version": {Absent: "1.0.0", Text: "Version of the requests. Raise it when they change."},
		"description":   {Text: "Text for `accelgate bench run --list`."},
		"model":         {Text: "The model, as requests name it. If absent, the server's first."},
		"mix":           {Text: "Models or LoRA adapters that requests name, with weights. If absent, `model`."},
		"engine":        {Text: "Name of the engine. If absent, the server's own."},
		"quantization":  {Text: "The model's quantization, as you declare it."},
		"base_url":      {Text: "Root of a running server, which must list its models. Without credentials."},
		"api_key_env":   {Text: "Variable with the key, a bearer token. A `server` gets it only by its `env`."},
		"server": {Text: "Server that is started for each measurement in place of `base_url`. Without both, the embedded engine " +
			"is measured."},
		"connection": {Text: "Way to a server with `base_url`."},
		"request":    {Text: "Options of the requests."},
		"dataset":    {Text: "[Prompts](endpoints.md#datasets)."},
		"load":       {Text: "[Times and number of requests](endpoints.md#loads)."},
		"search":     {Text: "[Finds](endpoints.md#search) the highest load that holds limits, in place of the loads of `load`."},
		"expect":     {Text: "Conditions of an answer."},
		"timeouts":   {Text: "Limits of the time of a request, each up to 24h."},
		"slo":        {Text: "Limits of a request that counts as good. A plain value stands for the template."},
		"min_ok_rate": {Absent: 0.95, Text: "Share of requests that must be answered, or the cell fails. So does it with more " +
			"cut than answered requests."},
		"client_delay":   {Absent: "2ms", Text: "Limit of the [load generator's delays](endpoints.md#doubtful-numbers)."},
		"gate":           {Text: "Metrics that are gated in place of the default ones."},
		"gpus":           {Text: "NVIDIA GPUs, by index or UUID, whose energy counts. If absent, the cell's device, else the CPU."},
		"price_per_hour": {Text: "USD, for `cost_usd_per_million_tokens`."},
		"repeats":        {Absent: 1, Text: "Measurements of each load, up to 1000."},
	},
	reflect.TypeFor[server](): {
		"command":       {Text: "Program and its arguments, with `{port}`, which must occur, `{model}` and `{accelgate}`."},
		"env":           {Text: "Variables of the server."},
		"start_timeout": {Absent: "10m", Text: "Bound for the start. The server is ready when `/health`, or else `/v1/models`, answers."},
	},
	reflect.TypeFor[connection](): {
		"ca_file":        {Text: "PEM file of certificates that replace the system's."},
		"proxy":          {Text: "URL of a proxy, such as `http://proxy:3128`. The environment's proxies are ignored."},
		"socket":         {Text: "Path of a Unix socket, with `base_url: http://localhost`."},
		"h2c":            {Absent: false, Text: "`true` sends HTTP/2 without TLS. The server must expect it."},
		"query":          {Text: "Parameters of each URL, such as `api-version` on Azure."},
		"headers":        {Text: "Headers of each request. For keys, use `api_key_env`."},
		"api_key_header": {Text: "Header with the key, such as `api-key` on Azure, in place of a bearer token."},
	},
	reflect.TypeFor[request](): {
		"api":         {Absent: "chat", Text: "[`chat`, `completions`, `embeddings`, `rerank` or `transcription`](endpoints.md#requests)."},
		"inputs":      {Absent: 1, Text: "Texts or documents of a request for `embeddings` or `rerank`, up to 2048."},
		"files":       {Text: "Images of chats (PNG, JPEG, WebP, GIF), or recordings of `transcription`, one a request."},
		"max_tokens":  {Absent: 128, Text: "Limit of an answer, 1 to 1048576. `output` of the data set replaces it."},
		"temperature": {Absent: 0, Text: "0 to 2."},
		"ignore_eos":  {Absent: false, Text: "`true` makes all answers equally long, where the server supports it."},
		"keepalive":   {Absent: true, Text: "Whether a connection serves further requests."},
		"system":      {Text: "System prompt, with `api: chat`."},
		"json_schema": {Text: "File of a JSON Schema that [answers must keep](endpoints.md#structured-output)."},
		"stop":        {Text: "Texts that end an answer."},
		"extra":       {Text: "Further members of the request, each as JSON."},
	},
	reflect.TypeFor[searching](): {
		"metric":    {Text: "`rate` (requests a second) or `concurrency` (requests at once)."},
		"slo":       {Text: "Limits by metric, in milliseconds (`ttft_p95_ms`), and `ok_rate`, if absent `min_ok_rate`."},
		"min":       {Absent: 1, Text: "First load. The cell fails if it does not hold."},
		"max":       {Absent: 1024, Text: "Highest load to try."},
		"precision": {Absent: 0.02, Text: "Relative distance of the end points at which it ends, 0.001 to 0.5."},
		"repeats":   {Absent: 3, Text: "Probes of each end point, odd, up to 99. The majority counts."},
		"budget":    {Absent: "15m", Text: "Time after which no further probe begins."},
	},
	reflect.TypeFor[expect](): {
		"prompt_tokens": {Text: "Smallest number of tokens that the server counts for a prompt, or `words`. With fewer, an " +
			"answer is `prompt_truncated`. If absent, fewer tokens than words warn."},
	},
	reflect.TypeFor[timeouts](): {
		"first": {Absent: "60s", Text: "To the first token."},
		"idle":  {Absent: "30s", Text: "From line to line."},
		"total": {Absent: "120s", Text: "Of the whole request."},
	},
	reflect.TypeFor[slo](): {
		"template": {Text: "`llm.standard` (200 ms to the first token, 50 ms per further token, 3 s for the request) or " +
			"`llm.relaxed` (1 s, none, 10 s), on an H100. Other hardware classes multiply them."},
		"hardware": {Text: "Class such as `a100`. If absent, by the accelerator's model; `cpu` without one."},
		"ttft":     {Text: "Limit to the first token."},
		"tpot":     {Text: "Limit per further token."},
		"e2e":      {Text: "Limit of the whole request."},
	},
	reflect.TypeFor[prompts](): {
		"kind": {Absent: "builtin", Text: "`builtin`, `random` (words without meaning), `lognormal` (the same with " +
			"lognormal lengths), `shared-prefix` (`groups` of prompts with the same first `prefix` words), or a file: " +
			"`jsonl`, `sharegpt`, `trace`."},
		"set": {Absent: "chat", Text: "Of `builtin`: `chat` (10 short questions), `code` (10 beginnings of files), " +
			"`rag` (2,048 words) or `long-context` (8,192 words)."},
		"path": {Text: "File of `jsonl`, `sharegpt` and `trace`."},
		"n": {Text: "Number of prompts. If absent, all of a file or of `chat` and `code`, 16 for each group of " +
			"`shared-prefix`, else 200."},
		"seed":  {Absent: 42, Text: "Decides every word and length. Not negative."},
		"input": {Text: "Length of generated prompts: of `shared-prefix` behind the prefix, of `rag` and `long-context` the document."},
		"length_unit": {Absent: "words", Text: "Unit of `input` and `prefix`: `words` (about a token each), or `tokens` by the " +
			"server's `/tokenize`."},
		"output":         {Text: "Length of answers in tokens; of `jsonl` where a line has none. If absent, `request.max_tokens`."},
		"groups":         {Text: "Prefixes of `shared-prefix`, or documents of `rag` and `long-context`, if absent one for each prompt."},
		"prefix":         {Text: "Words that a group of `shared-prefix` shares."},
		"block":          {Absent: 512, Text: "Tokens of each of a trace's `hash_ids`."},
		"format":         {Absent: "mooncake", Text: "Form of a trace: `mooncake` (JSON lines), `azure` or `burstgpt` (tables)."},
		"time_unit":      {Text: "Unit of a trace's `timestamp`, `ms` or `s`. Required with `mooncake`."},
		"answer_lengths": {Absent: false, Text: "`true` asks `sharegpt` for as many tokens as the answer has words."},
		"conversation":   {Text: "Makes each prompt the first question of a [conversation](endpoints.md#conversations)."},
		"cache_policy": {Absent: "unique", Text: "Beginning of prompts: `unique` (own words), `shared-prefix` (own " +
			"words behind the shared part), `as-is` (unchanged, and repeated when used up)."},
	},
	reflect.TypeFor[dataset.Conversation](): {
		"turns":    {Text: "Questions of a conversation, 1 to 1000; of `sharegpt`, at most these."},
		"input":    {Text: "Words of each later question. Those of `sharegpt` are recorded."},
		"think_ms": {Text: "Milliseconds between an answer and the next question, up to an hour."},
	},
	reflect.TypeFor[dataset.Lengths](): {
		"dist":  {Text: "`fixed` (`value`), `uniform` (`min`, `max`) or `lognormal` (`p50`, `sigma`, `min`, `max`)."},
		"value": {Text: "The length, of `fixed`."},
		"min":   {Text: "Smallest length of `uniform` and `lognormal`. If absent, 1."},
		"max":   {Text: "Largest length of `uniform` and `lognormal`. If absent, the largest that is allowed."},
		"p50":   {Text: "Median of `lognormal`, before `min` and `max`."},
		"sigma": {Text: "Standard deviation of the logarithm of `lognormal`, up to 5."},
	},
	reflect.TypeFor[loading](): {
		"mode": {Absent: "closed", Text: "`closed` (each slot sends after its last request), or open: `constant` (equal " +
			"gaps), `gamma` (random arrivals), `burst` (groups), `trace` (recorded times)."},
		"concurrency":   {Text: "Slots of `closed`: a cell for each number."},
		"rate":          {Text: "Requests a second of `constant`, `gamma` and `burst`: a cell for each number."},
		"rate_end":      {Text: "Rate at the end of `duration`. The warm-up has `rate`."},
		"rate_curve":    {Absent: "linear", Text: "Way to `rate_end`: `linear` (equal differences) or `exponential` (equal factors)."},
		"scale":         {Text: "Speeds of a trace, such as 0.5: a cell for each. If absent, 1."},
		"burstiness":    {Absent: 1, Text: "Shape of the gaps of `gamma`: 1 is Poisson, less is clustered."},
		"burst":         {Text: "Requests of one group of `burst`."},
		"ramp":          {Text: "Time over which slots start, in place of `auto_ramp`."},
		"auto_ramp":     {Absent: true, Text: "Whether slots start over one service time."},
		"max_in_flight": {Text: "Limit of simultaneous requests in open modes. Further ones wait."},
		"clients":       {Absent: 1, Text: "[Processes on this host](endpoints.md#more-than-one-client) that share the load, up to 256."},
		"duration":      {Text: "Time that is measured. With `requests` too, whichever comes first counts."},
		"requests":      {Text: "Requests that are measured."},
		"warmup":        {Text: "Load before the measurement: both, the requests and the time."},
		"drain":         {Absent: "30s", Text: "Time after the window in which its requests may end."},
	},
	reflect.TypeFor[warmup](): {
		"requests": {Text: "Requests. If absent, the larger of 3 and twice the slots, or 0 for a trace."},
		"duration": {Absent: "2s", Text: "Time."},
	},
}
