# Run a whole study from R, through reticulate: begin, add two data frames, publish, read.
#
#     Rscript run_study.R FOLDER [PYTHON]
#
# PYTHON is one that has graphveil[interchange], such as .venv/bin/python of a clone.

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) > 1) reticulate::use_python(arguments[2], required = TRUE)
graphveil <- reticulate::import("graphveil")

# Decide, before anybody looks at the data.
study <- graphveil$Study$create(
  arguments[1],
  title = "Cases and contacts", population = "made-up people", publisher = "an example",
  every = "year", first = 2021L, last = 2024L,
  epsilon = "2", epsilon_reason = "an example",
  series = list("nodes@1/4=people", "clusters@3/4", "edges@1=links")
)

# Ids are text and dates are text: then nothing is guessed from a whole column.
set.seed(1)
people <- data.frame(
  case = sprintf("case-%03d", 1:300),
  onset = format(as.Date("2021-01-01") + sort(sample(0:1460, 300, replace = TRUE)))
)
contacts <- unique(data.frame(
  from = sample(people$case, 350, replace = TRUE),
  to = sample(people$case, 350, replace = TRUE)
))
added <- study$add(people, contacts, id = "case", time = "onset", source = "from", target = "to")
done <- study$publish(through = "2023")

columns <- c("series", "label", "revised", "revised_low", "revised_high")
published <- as.data.frame(study$frame()$select(columns)$to_dict(as_series = FALSE))
print(published, row.names = FALSE)
stopifnot(study$verify()$as_data()$verified)
